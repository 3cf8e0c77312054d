#include "sim/route.hpp"

#include "base/check.hpp"

namespace cotillion {
namespace {

// An access lane starts and ends at the island's own place.
PlaceId lane_begins(const Map& map, LaneId lane) {
  const int link = lane / 2;
  return link < int(map.links.size()) ? map.links[link].ends[lane % 2]
                                      : link - int(map.links.size());
}

PlaceId lane_ends(const Map& map, LaneId lane) {
  const int link = lane / 2;
  return link < int(map.links.size()) ? map.links[link].ends[1 - lane % 2]
                                      : link - int(map.links.size());
}

}  // namespace

Route stream_route(const Map& map, const std::vector<Ingress>& ingress, const Stream& stream) {
  Route route;
  route.sender = stream.sender;
  COTILLION_CHECK(!stream.tree.empty() && stream.tree.front() == lane_up(map, stream.sender));
  for (const LaneId lane : stream.tree) route.steps.push_back({lane, {}, {}, -1, -1});
  // In a tree every place is entered once, so whatever begins there goes on from there.
  std::vector<int> entered(std::size_t(map.place_count()), -1);
  for (std::size_t k = 0; k < route.steps.size(); ++k)
    entered[std::size_t(lane_ends(map, route.steps[k].lane))] = int(k);
  for (std::size_t k = 1; k < route.steps.size(); ++k) {
    const int before = entered[std::size_t(lane_begins(map, route.steps[k].lane))];
    COTILLION_CHECK(before >= 0);
    route.steps[std::size_t(before)].next.push_back(int(k));
  }
  for (const Arrival& arrival : stream.receivers) {
    const int at = entered[std::size_t(ingress[std::size_t(arrival.receiver)].from)];
    COTILLION_CHECK(at >= 0);
    route.steps[std::size_t(at)].edges.push_back(arrival.receiver);
  }
  return route;
}

Route ingress_route(const Ingress& ingress, IslandId island) {
  Route route;
  for (const LaneId lane : ingress.lanes)
    route.steps.push_back({lane, {int(route.steps.size()) + 1}, {}, -1, -1});
  route.steps.back().next.clear();
  route.steps.back().island = island;
  return route;
}

Route request_route(const Map& map, IslandId island) {
  Route route;
  route.steps.push_back({lane_up(map, island), {}, {}, island, -1});
  return route;
}

}  // namespace cotillion
