#include "topology/map_edit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/topology/maps.hpp"
#include "topology/map_writer.hpp"
#include "topology/routes.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using ::testing::HasSubstr;
using testing::map_of;

// A square with a router in one corner; names that hold dashes themselves.
Map square() {
  return map_of(R"(
payload = "1GB"
defaults = { access = "20Gbps", rate = "100Gbps" }
edge = { memory = "1GB" }
islands = [{ name = "a" }, { name = "a-b" }, { name = "b-c" }, { name = "c", edge = false }]
routers = [{ name = "hub" }]
links = [
  { ends = ["a", "a-b"], latency = "1ms" },
  { ends = ["a-b", "b-c"], latency = "2ms", rate = ["5Gbps", "40Gbps"] },
  { ends = ["b-c", "hub"], latency = "3ms" },
  { ends = ["hub", "a"], latency = "4ms" },
  { ends = ["c", "hub"], latency = "5ms" },
]
aggregators = [{ at = "hub", serves = ["a", "b-c"], memory = "10MB" }]
)");
}

std::string edit_refusal(const Result<Map>& result) {
  return result ? "" : result.error().message;
}

TEST(MapEdit, ALinkIsFoundFromEitherEndAndWhateverItsNamesHold) {
  const Map map = square();
  EXPECT_EQ(*find_link(map, "a-a-b"), 0);
  EXPECT_EQ(*find_link(map, "a-b-a"), 0);
  EXPECT_EQ(*find_link(map, "a-b-b-c"), 1);
  EXPECT_EQ(*find_link(map, "b-c-a-b"), 1);
  EXPECT_EQ(*find_link(map, "hub-b-c"), 2);
}

TEST(MapEdit, ALinkThatIsNotThereIsRefusedWithWhatIs) {
  EXPECT_THAT(edit_refusal(without_link(square(), "a-c")),
              HasSubstr("there is no link between a and c; a is linked to a-b, hub"));
  EXPECT_THAT(edit_refusal(without_link(square(), "hib-c")),
              HasSubstr("unknown island or router 'hib'; did you mean 'hub'?"));
  EXPECT_THAT(edit_refusal(without_link(square(), "hub")), HasSubstr("no link is called 'hub'"));
  EXPECT_THAT(edit_refusal(without_link(square(), "")), HasSubstr("as in TYO-FRA"));
  EXPECT_THAT(edit_refusal(without_link(square(), "-")), HasSubstr("unknown island or router ''"));
  EXPECT_THAT(edit_refusal(without_link(square(), "---")), HasSubstr("no link is called"));
}

TEST(MapEdit, WithoutALinkTrafficGoesRound) {
  const auto map = without_link(square(), "a-a-b");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->links.size(), 4u);
  EXPECT_EQ(Routes(*map).latency(0, 1).ms(), 9);
}

TEST(MapEdit, AMapThatFallsApartIsRefused) {
  EXPECT_THAT(edit_refusal(without_link(square(), "hub-c")),
              HasSubstr("the map falls apart: disconnected map: no path from a to c"));
}

TEST(MapEdit, AnIslandThatLeavesGoesOnForwarding) {
  const Map before = square();
  const auto after = without_island(before, "a-b");
  ASSERT_TRUE(after);
  EXPECT_EQ(island_names(*after), (std::vector<std::string>{"a", "b-c", "c"}));
  EXPECT_EQ(after->routers.back().name, "a-b");
  EXPECT_EQ(after->aggregators.size(), before.aggregators.size() - 1);
  const Routes routes(*after), old(before);
  EXPECT_EQ(routes.latency(0, 1), old.latency(0, 2));
  EXPECT_EQ(routes.latency(2, 1), old.latency(3, 2));
  // The shared edge, which serves two still.
  EXPECT_EQ(place_name(*after, after->aggregators[0].place), "hub");
  EXPECT_EQ(after->aggregators[0].serves, (std::vector<IslandId>{0, 1}));
}

TEST(MapEdit, WithoutAnyIslandOfTheNineCitiesTheOthersKeepTheirLatencies) {
  const Map before = example_map("nine-cities");
  const Routes old(before);
  for (const Island& gone : before.islands) {
    const auto after = without_island(before, gone.name);
    ASSERT_TRUE(after) << gone.name;
    const Routes routes(*after);
    for (IslandId i = 0; i < after->island_count(); ++i)
      for (IslandId j = 0; j < after->island_count(); ++j)
        EXPECT_EQ(routes.latency(i, j), old.latency(*find_island(before, after->islands[i].name),
                                                    *find_island(before, after->islands[j].name)));
    // As sound as a file: it can be written and read again.
    EXPECT_EQ(map_of(write_map(*after)).aggregators.size(), 8u);
  }
}

TEST(MapEdit, TheLastIslandStays) {
  Map map = map_of(R"(
payload = "1GB"
islands = [{ name = "a", access = "1Gbps" }]
)");
  EXPECT_THAT(edit_refusal(without_island(map, "a")), HasSubstr("the only island"));
  EXPECT_THAT(edit_refusal(without_island(map, "b")), HasSubstr("unknown island 'b'"));
  EXPECT_THAT(edit_refusal(without_island(square(), "hub")), HasSubstr("unknown island 'hub'"));
}

TEST(MapEdit, RatesAndLatenciesChangeInBothDirections) {
  const auto rate = with_link_rate(square(), "b-c-a-b", {7e9});
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->links[1].rate[0].value, 7e9);
  EXPECT_EQ(rate->links[1].rate[1].value, 7e9);
  const auto latency = with_link_latency(square(), "hub-a", Duration{9'000'000'000});
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->links[3].latency[0].ms(), 9);
  EXPECT_EQ(latency->links[3].latency[1].ms(), 9);
  const auto access = with_access(square(), "c", {3e9});
  ASSERT_TRUE(access);
  EXPECT_EQ(access->islands[3].up.value, 3e9);
  EXPECT_EQ(access->islands[3].down.value, 3e9);
}

TEST(MapEdit, WhatNoNetworkHasIsRefused) {
  EXPECT_THAT(edit_refusal(with_link_rate(square(), "hub-a", {0})), HasSubstr("zero rate"));
  EXPECT_THAT(edit_refusal(with_access(square(), "a", {0})), HasSubstr("zero access rate"));
  EXPECT_THAT(edit_refusal(with_access(square(), "d", {1e9})), HasSubstr("unknown island 'd'"));
  EXPECT_THAT(edit_refusal(with_link_latency(square(), "hub-a", Duration{2'000'000'000'000})),
              HasSubstr("check the unit"));
  EXPECT_THAT(edit_refusal(with_link_latency(example_map("nine-cities"), "TYO-LAX", Duration{1})),
              HasSubstr("absurd latency"));
}

}  // namespace
}  // namespace cotillion
