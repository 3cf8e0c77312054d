#include "topology/map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cotillion {
namespace {

using ::testing::ElementsAre;

// LON and NYC joined through the router CORK, faster and quicker in one direction.
Map three_places() {
  Map map;
  map.islands = {{"LON", "London", "", {}, {20e9}, {40e9}}, {"NYC", "", "", {}, {10e9}, {10e9}}};
  map.routers = {{"CORK", {}}};
  map.links = {{{0, 2}, {{5}, {6}}, {{100e9}, {50e9}}}, {{2, 1}, {{30}, {30}}, {{80e9}, {80e9}}}};
  return map;
}

TEST(Map, PlacesAreIslandsFirstAndThenRouters) {
  const Map map = three_places();
  EXPECT_EQ(map.place_count(), 3);
  EXPECT_EQ(place_name(map, 0), "LON");
  EXPECT_EQ(place_name(map, 1), "NYC");
  EXPECT_EQ(place_name(map, 2), "CORK");
}

TEST(Map, IslandsAreFoundByNameAndRoutersAreNot) {
  const Map map = three_places();
  EXPECT_EQ(find_island(map, "NYC"), 1);
  EXPECT_EQ(find_island(map, "CORK"), std::nullopt);
  EXPECT_EQ(find_island(map, "lon"), std::nullopt);
  EXPECT_THAT(island_names(map), ElementsAre("LON", "NYC"));
}

TEST(Map, LanesAreTwoForEachLinkAndThenUpAndDownForEachIsland) {
  const Map map = three_places();
  EXPECT_EQ(map.lane_count(), 8);
  EXPECT_EQ(lane_of_link(1, 1), 3);
  EXPECT_EQ(lane_up(map, 0), 4);
  EXPECT_EQ(lane_down(map, 0), 5);
  EXPECT_EQ(lane_up(map, 1), 6);
  EXPECT_EQ(lane_down(map, 1), 7);
  for (LaneId lane = 0; lane < map.lane_count(); ++lane) EXPECT_EQ(is_access(map, lane), lane >= 4);
}

TEST(Map, ALaneIsNamedByWhereItLeads) {
  const Map map = three_places();
  std::vector<std::string> names;
  for (LaneId lane = 0; lane < map.lane_count(); ++lane) names.push_back(lane_name(map, lane));
  EXPECT_THAT(names, ElementsAre("LON→CORK", "CORK→LON", "CORK→NYC", "NYC→CORK",  //
                                 "LON→net", "net→LON", "NYC→net", "net→NYC"));
}

TEST(Map, ALinkIsNamedByItsEnds) {
  const Map map = three_places();
  EXPECT_EQ(link_name(map, map.links[0]), "LON–CORK");
  EXPECT_EQ(link_name(map, map.links[1]), "CORK–NYC");
}

TEST(Map, EachDirectionOfALinkHasItsOwnRateAndLatency) {
  const Map map = three_places();
  EXPECT_EQ(lane_rate(map, lane_of_link(0, 0)).gbps(), 100);
  EXPECT_EQ(lane_rate(map, lane_of_link(0, 1)).gbps(), 50);
  EXPECT_EQ(lane_latency(map, lane_of_link(0, 0)), Duration{5});
  EXPECT_EQ(lane_latency(map, lane_of_link(0, 1)), Duration{6});
}

TEST(Map, AccessHasTheIslandsRatesAndNoLength) {
  const Map map = three_places();
  EXPECT_EQ(lane_rate(map, lane_up(map, 0)).gbps(), 20);
  EXPECT_EQ(lane_rate(map, lane_down(map, 0)).gbps(), 40);
  EXPECT_EQ(lane_latency(map, lane_up(map, 0)), Duration{});
  EXPECT_EQ(lane_latency(map, lane_down(map, 1)), Duration{});
}

TEST(Map, AnIslandThatNoAggregatorServesHasNone) {
  Map map = three_places();
  EXPECT_THAT(aggregator_of_islands(map), ElementsAre(kNoAggregator, kNoAggregator));
  map.aggregators = {{2, {}, {1}}};
  EXPECT_THAT(aggregator_of_islands(map), ElementsAre(kNoAggregator, AggregatorId(0)));
}

TEST(Map, ASharedEdgeDividesItsWindowEquallyAmongItsIslands) {
  const EdgeSpec halved{{32'000'000'000}, {8192}, {16384}, {}};
  EXPECT_EQ(memory_per_island({2, halved, {0}}), Bytes{16'000'000'000});
  EXPECT_EQ(memory_per_island({2, halved, {0, 1}}), Bytes{8'000'000'000});
  EXPECT_EQ(memory_per_island({2, {{100}, {1}, {1}, {}}, {0, 1, 3}}), Bytes{33});
}

TEST(MapDeathTest, APlaceOrALaneThatDoesNotExistEndsTheProgram) {
  const Map map = three_places();
  EXPECT_DEATH((void)place_name(map, 3), "internal error");
  EXPECT_DEATH((void)place_name(map, -1), "internal error");
  EXPECT_DEATH((void)lane_rate(map, 8), "internal error");
  EXPECT_DEATH((void)lane_latency(map, -1), "internal error");
}

}  // namespace
}  // namespace cotillion
