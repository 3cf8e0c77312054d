#include "report/map_report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two islands and a router; the ways there and back differ, and only B has an edge.
Map uneven_map() {
  return testing::map_of(R"(name = "Uneven"
source = "a test"
payload = "1GB"
defaults = { access = "20Gbps", rate = "100Gbps" }
islands = [
  { name = "A", label = "Alpha", region = "North", coordinates = [1.5, -2], edge = false },
  { name = "B", access = { up = "1Gbps", down = "2Gbps" } },
]
routers = [{ name = "R" }]
links = [
  { ends = ["A", "R"], latency = ["1ms", "2.5ms"], rate = ["10Gbps", "20Gbps"] },
  { ends = ["R", "B"], latency = "4ms" },
]
aggregators = [{ at = "R", serves = ["B"], memory = "8GB" }])");
}

IslandId id(const Map& map, const std::string& name) {
  return find_island(map, name).value();
}

std::string tree_of(const std::string& sender, const std::vector<std::string>& receivers) {
  const Map map = testing::example_map("nine-cities");
  std::vector<IslandId> ids;
  for (const std::string& name : receivers) ids.push_back(id(map, name));
  return tree_text(map, Routes(map), id(map, sender), ids);
}

TEST(MapReport, SaysWhatExistsForPeople) {
  const Map map = uneven_map();
  EXPECT_EQ(map_text(map, Routes(map)),
            "Uneven (a test): 2 islands, 1 router, 2 links, payload 1 GB\n"
            "\n"
            "island         region  access up / down  edge at  memory\n"
            "A       Alpha  North            20 Gbps  none          –\n"
            "B                       1 Gbps / 2 Gbps  R          8 GB\n"
            "\n"
            "link  latency ms               rate\n"
            "A–R      1 / 2.5  10 Gbps / 20 Gbps\n"
            "R–B            4           100 Gbps\n"
            "\n"
            "Shortest-path latencies, ms\n"
            "to \\ from  A    B\n"
            "A          ·  6.5\n"
            "B          5    ·\n");
}

TEST(MapReport, ATableOfLatenciesThatWouldNotFitAScreenIsLeftToJson) {
  const Map fits = testing::random_map(24, 1);
  EXPECT_THAT(map_text(fits, Routes(fits)), HasSubstr("to \\ from"));
  const Map wide = testing::random_map(25, 1);
  const std::string text = map_text(wide, Routes(wide));
  EXPECT_THAT(text, Not(HasSubstr("to \\ from")));
  EXPECT_THAT(text, HasSubstr("(25 islands: the table of latencies is in --json)"));
}

TEST(MapReport, JsonNamesEveryUnit) {
  const Map map = uneven_map();
  const Json json = map_json(map, Routes(map));
  EXPECT_EQ(json["map"], "Uneven");
  EXPECT_EQ(json["source"], "a test");
  EXPECT_EQ(json["payload_bytes"], 1'000'000'000);
  EXPECT_EQ(json["islands"][1]["name"], "B");
  EXPECT_EQ(json["islands"][1]["up_gbps"], 1);
  EXPECT_EQ(json["islands"][1]["down_gbps"], 2);
  EXPECT_EQ(json["islands"][1]["edge_at"], "R");
  EXPECT_EQ(json["islands"][1]["memory_bytes"], 8'000'000'000);
  EXPECT_EQ(json["routers"][0]["name"], "R");
}

TEST(MapReport, JsonHasNullWhereAnIslandHasNoEdgeAndNoCoordinates) {
  const Map map = uneven_map();
  const Json islands = map_json(map, Routes(map))["islands"];
  EXPECT_TRUE(islands[0]["edge_at"].is_null());
  EXPECT_TRUE(islands[0]["memory_bytes"].is_null());
  EXPECT_EQ(islands[0]["coordinates"], Json::array({1.5, -2.0}));
  EXPECT_TRUE(islands[1]["coordinates"].is_null());
}

TEST(MapReport, JsonGivesBothDirectionsOfALinkInTheOrderOfItsEnds) {
  const Map map = uneven_map();
  const Json link = map_json(map, Routes(map))["links"][0];
  EXPECT_EQ(link["ends"], Json::array({"A", "R"}));
  EXPECT_EQ(link["latency_ms"], Json::array({1.0, 2.5}));
  EXPECT_EQ(link["rate_gbps"], Json::array({10.0, 20.0}));
}

TEST(MapReport, JsonLatenciesAreRowsOfReceiversAndColumnsOfSenders) {
  const Map map = uneven_map();
  const Json latency = map_json(map, Routes(map))["latency_ms"];
  EXPECT_EQ(latency[0][0], 0);
  EXPECT_EQ(latency[1][0], 5) << "to B from A";
  EXPECT_EQ(latency[0][1], 6.5) << "to A from B";
}

TEST(MapReport, ATreeIsDrawnFromItsRootBranchesInOrderOfName) {
  EXPECT_EQ(tree_of("HKG", {"TYO", "SIN", "LAX", "NYC", "WAS", "LON", "AMS", "FRA"}),
            "Multicast tree of HKG: 8 lanes to 8 receivers\n"
            "HKG\n"
            "├─ SIN  17.9 ms\n"
            "└─ TYO  24.2 ms\n"
            "   ├─ FRA  91.2 ms\n"
            "   │  ├─ AMS  94.2 ms\n"
            "   │  └─ LON  96.9 ms\n"
            "   └─ LAX  73.6 ms\n"
            "      ├─ NYC  101.1 ms\n"
            "      └─ WAS  103.1 ms\n");
}

TEST(MapReport, APlaceThatOnlyForwardsIsMarked) {
  EXPECT_EQ(tree_of("HKG", {"FRA", "LON"}),
            "Multicast tree of HKG: 3 lanes to 2 receivers\n"
            "HKG\n"
            "└─ TYO (passes through)  24.2 ms\n"
            "   └─ FRA  91.2 ms\n"
            "      └─ LON  96.9 ms\n");
}

TEST(MapReport, ATreeInJsonListsItsLanesAndWhenItArrives) {
  const Map map = testing::example_map("nine-cities");
  const Json json = tree_json(map, Routes(map), id(map, "HKG"), {id(map, "LON"), id(map, "TYO")});
  EXPECT_EQ(json["sender"], "HKG");
  EXPECT_EQ(json["lanes"].size(), 3u);
  EXPECT_THAT(json["lanes"], ::testing::Contains(Json{{"from", "TYO"}, {"to", "FRA"}}));
  EXPECT_EQ(json["receivers"][0], (Json{{"island", "LON"}, {"latency_ms", 96.9}, {"hops", 3}}));
  EXPECT_EQ(json["receivers"][1], (Json{{"island", "TYO"}, {"latency_ms", 24.2}, {"hops", 1}}));
}

}  // namespace
}  // namespace cotillion
