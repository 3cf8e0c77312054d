#include "topology/imported_map.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/import_map.hpp"
#include "topology/map_file.hpp"
#include "topology/map_writer.hpp"

namespace cotillion {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kRowsHeader = "device1,device2,latency,bandwidth\n";
const std::string kMetros =
    "NYC1,NYC2,0.1,10\nNYC1,LON1,35,100\nNYC2,LON2,34,10\nLON1,LON2,0.2,10\nLON2,PAR1,4,10\n";

Imported imported(const std::string& rows, const ImportOptions& options = {}) {
  auto result = import_map(kRowsHeader + rows, "f.csv", ImportFormat::kCsv, options);
  if (!result) ADD_FAILURE() << to_text(result.error()[0]);
  return result ? std::move(*result) : Imported{};
}

std::string import_refusal(const std::string& rows, const ImportOptions& options) {
  const auto result = import_map(kRowsHeader + rows, "f.csv", ImportFormat::kCsv, options);
  return result ? "imported" : to_text(result.error()[0]);
}

ImportOptions merging() {
  ImportOptions options;
  options.merge_metros = true;
  return options;
}

ImportOptions with_islands(std::vector<std::string> names) {
  ImportOptions options;
  options.islands = std::move(names);
  return options;
}

TEST(ImportedMap, DevicesOfAMetroBecomeOneIsland) {
  const auto [map, notes] = imported(kMetros, merging());
  EXPECT_THAT(island_names(map), ElementsAre("NYC", "LON", "PAR"));
  EXPECT_EQ(map.islands[0].label, "NYC1, NYC2");
  EXPECT_EQ(map.islands[2].label, "PAR1");
  ASSERT_EQ(map.links.size(), 2u);
  EXPECT_EQ(map.links[0].latency[0].ms(), 34) << "the fastest of two between the metros";
  EXPECT_EQ(map.links[0].rate[0].gbps(), 10);
  EXPECT_THAT(notes,
              ElementsAre("5 devices merged into 3 metros: NYC = NYC1 + NYC2, LON = LON1 + LON2",
                          "2 links inside a metro left out, taken as free: NYC1–NYC2, "
                          "LON1–LON2",
                          "NYC–LON: 2 parallel links; kept 34 ms at 10 Gbps, left out 35 ms "
                          "at 100 Gbps"));
}

TEST(ImportedMap, WithoutMergingEveryDeviceIsAnIsland) {
  EXPECT_EQ(imported(kMetros).map.island_count(), 5);
}

TEST(ImportedMap, PlacesThatAreNotChosenAreRouters) {
  const Map map = imported(kMetros, with_islands({"NYC1", "PAR1"})).map;
  EXPECT_THAT(island_names(map), ElementsAre("NYC1", "PAR1"));
  ASSERT_EQ(map.routers.size(), 3u);
  EXPECT_EQ(map.routers[0].name, "NYC2");
  EXPECT_EQ(map.aggregators.size(), 2u);
  EXPECT_EQ(lane_name(map, lane_of_link(0, 0)), "NYC1→NYC2");
  EXPECT_EQ(lane_name(map, lane_of_link(4, 0)), "LON2→PAR1");
}

TEST(ImportedMap, AnIslandIsChosenByNameLabelOrDevice) {
  ImportOptions options = merging();
  options.islands = {"NYC", "PAR1"};
  EXPECT_THAT(island_names(imported(kMetros, options).map), ElementsAre("NYC", "PAR"));
  EXPECT_THAT(island_names(imported("\"New York\",B,1,1\n", with_islands({"New-York"})).map),
              ElementsAre("New-York"));
}

TEST(ImportedMap, AnUnknownIslandIsToldTheNearest) {
  EXPECT_EQ(import_refusal(kMetros, with_islands({"PARI1", "NYC1"})),
            "f.csv: islands: unknown place 'PARI1'; did you mean 'PAR1'?");
  EXPECT_EQ(import_refusal("A,B,1,1\nB,C,1,1\nX,Y,1,1\n", with_islands({"A", "B", "X"})),
            "f.csv: islands: 'X' has no links to the largest part; choose islands among the "
            "places of the file");
}

TEST(ImportedMap, OfSeveralPartsTheOneWithMostIslandsStays) {
  const std::string rows = "A,B,1,1\nB,C,1,1\nX,Y,1,1\n";
  EXPECT_THAT(island_names(imported(rows).map), ElementsAre("A", "B", "C"));
  EXPECT_THAT(island_names(imported(rows, with_islands({"X", "Y"})).map), ElementsAre("X", "Y"));
}

TEST(ImportedMap, OptionsFillWhatTheFormatDoesNotGive) {
  ImportOptions options;
  options.name = "Ours";
  options.source = "a friend";
  options.payload = {7};
  options.access = {1e9};
  options.memory = {0};
  const Map map = imported("A,B,1,1\n", options).map;
  EXPECT_EQ(map.name, "Ours");
  EXPECT_EQ(map.source, "a friend");
  EXPECT_EQ(map.payload, Bytes{7});
  EXPECT_EQ(map.islands[1].down.gbps(), 1);
  EXPECT_EQ(map.aggregators[0].spec.memory, Bytes{0});
}

TEST(ImportedMap, ManyNotesOfOneKindAreCut) {
  std::string rows;
  for (int i = 0; i < 300; ++i) rows += fmt::format("A,B{0},1,1\nA,B{0},2,1\n", i);
  const auto notes = imported(rows).notes;
  EXPECT_LT(notes.size(), 50u);
  EXPECT_THAT(notes, Contains("and 260 more like that"));
}

TEST(ImportedMap, AsManyPlacesAsAMapMayHaveAndNoMore) {
  const auto star = [](int places) {
    std::string rows;
    for (int i = 1; i < places; ++i) rows += fmt::format("hub,p{},0.001,1\n", i);
    return rows;
  };
  EXPECT_TRUE(read_map(write_map(imported(star(4096)).map), "m").has_value());
  EXPECT_EQ(import_refusal(star(4097), {}), "f.csv: 4097 places; Cotillion plans for at most 4096");
}

TEST(ImportedMap, APayloadBeyondWhatIsComputedExactlyIsRefused) {
  ImportOptions options;
  options.payload = {200'000'000'000'000};
  EXPECT_THAT(import_refusal("A,B,1,1\n", options), HasSubstr("payload: more than 100 TB"));
}

TEST(ImportedMap, LabelsThatOnlyDifferInWhatNamesMayNotHoldStayApart) {
  const Map map = imported("a b,\"a,b\",1,1\n\"a,b\",a;b,1,1\n").map;
  EXPECT_THAT(island_names(map), ElementsAre("a-b", "a-b-2", "a-b-3"));
}

}  // namespace
}  // namespace cotillion
