#include "topology/lane_walk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/topology/maps.hpp"

namespace cotillion {
namespace {

using ::testing::ElementsAre;

// A – hub – B, and hub – far – C; a stream of A for both.
TEST(LaneWalk, LeadsFromTheSenderToEveryPlaceOfItsTree) {
  const Map map = testing::map_of(R"(
name = "walk"
payload = "1MB"
edge = { memory = "1GB" }
islands = [ { name = "A", access = "1Gbps" }, { name = "B", access = "1Gbps" },
            { name = "C", access = "1Gbps" } ]
routers = [ { name = "hub" }, { name = "far" } ]
links = [
  { ends = ["A", "hub"], latency = "1ms", rate = "10Gbps" },
  { ends = ["B", "hub"], latency = "1ms", rate = "10Gbps" },
  { ends = ["hub", "far"], latency = "1ms", rate = "10Gbps" },
  { ends = ["far", "C"], latency = "1ms", rate = "10Gbps" } ]
)");
  const IslandId a = 0, b = 1, c = 2;
  const PlaceId hub = 3, far = 4;
  const LaneId out = lane_up(map, a), to_hub = lane_of_link(0, 0), to_b = lane_of_link(1, 1),
               to_far = lane_of_link(2, 0), to_c = lane_of_link(3, 0);
  EXPECT_EQ(lane_begins(map, to_b), hub);
  EXPECT_EQ(lane_ends(map, to_b), b);
  EXPECT_EQ(lane_begins(map, out), a);
  EXPECT_EQ(lane_ends(map, lane_down(map, c)), c);
  const std::vector<LaneId> tree{out, to_hub, to_b, to_far, to_c};
  EXPECT_EQ(lane_before(map, tree, out), out);
  EXPECT_EQ(lane_before(map, tree, to_far), to_hub);
  EXPECT_EQ(lane_before(map, tree, lane_down(map, c)), to_c);
  EXPECT_THAT(way_along(map, tree, a), ElementsAre(out));
  EXPECT_THAT(way_along(map, tree, b), ElementsAre(out, to_hub, to_b));
  EXPECT_THAT(way_along(map, tree, far), ElementsAre(out, to_hub, to_far));
  EXPECT_THAT(way_along(map, tree, c), ElementsAre(out, to_hub, to_far, to_c));
}

}  // namespace
}  // namespace cotillion
