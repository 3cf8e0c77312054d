#include "topology/lane_walk.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace cotillion {
namespace {

// In a tree every place is entered once.
LaneId entering(const Map& map, const std::vector<LaneId>& tree, PlaceId place) {
  const auto lane = std::find_if(tree.begin(), tree.end(),
                                 [&](LaneId each) { return lane_ends(map, each) == place; });
  COTILLION_CHECK(lane != tree.end());
  return *lane;
}

}  // namespace

PlaceId lane_begins(const Map& map, LaneId lane) {
  if (!is_access(map, lane)) return map.links[lane / 2].ends[lane % 2];
  return PlaceId(lane / 2 - int(map.links.size()));
}

PlaceId lane_ends(const Map& map, LaneId lane) {
  if (is_access(map, lane)) return lane_begins(map, lane);
  return map.links[lane / 2].ends[1 - lane % 2];
}

LaneId lane_before(const Map& map, const std::vector<LaneId>& tree, LaneId lane) {
  return lane == tree.front() ? lane : entering(map, tree, lane_begins(map, lane));
}

std::vector<LaneId> way_along(const Map& map, const std::vector<LaneId>& tree, PlaceId to) {
  std::vector<LaneId> way{entering(map, tree, to)};
  while (way.back() != tree.front()) way.push_back(lane_before(map, tree, way.back()));
  std::reverse(way.begin(), way.end());
  return way;
}

}  // namespace cotillion
