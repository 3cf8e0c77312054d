#include "sim/route.hpp"

#include "base/check.hpp"
#include "topology/lane_walk.hpp"

namespace cotillion {

Route Route::of_stream(const Map& map, const IdVector<IslandId, Ingress>& ingress,
                       const Stream& stream) {
  COTILLION_CHECK(!stream.tree.empty() && stream.tree.front() == lane_up(map, stream.sender));
  Route route;
  route.steps_.reserve(stream.tree.size());
  route.edges_.reserve(stream.receivers.size());
  route.steps_.push_back({.lane = stream.tree.front(), .sender = stream.sender});
  // In a tree every place is entered once, so whatever begins there goes on from there.
  for (std::size_t k = 0; k < route.steps_.size(); ++k) {
    Route::Step& step = route.steps_[k];
    const PlaceId here = lane_ends(map, step.lane);
    const std::size_t first = route.steps_.size(), first_edge = route.edges_.size();
    for (std::size_t i = 1; i < stream.tree.size(); ++i)
      if (lane_begins(map, stream.tree[i]) == here)
        route.steps_.push_back({.lane = stream.tree[i], .sender = stream.sender});
    for (const Arrival& arrival : stream.receivers)
      if (ingress[arrival.receiver].from == here) route.edges_.push_back(arrival.receiver);
    step.next = route.steps_.data() + first;
    step.next_count = std::int16_t(route.steps_.size() - first);
    step.edges = route.edges_.data() + first_edge;
    step.edge_count = std::int16_t(route.edges_.size() - first_edge);
  }
  COTILLION_CHECK(route.steps_.size() == stream.tree.size());
  COTILLION_CHECK(route.edges_.size() == stream.receivers.size());
  return route;
}

Route Route::into(const Ingress& ingress, IslandId island) {
  Route route;
  for (const LaneId lane : ingress.lanes) route.steps_.push_back({.lane = lane});
  for (std::size_t k = 0; k + 1 < route.steps_.size(); ++k) {
    route.steps_[k].next = &route.steps_[k + 1];
    route.steps_[k].next_count = 1;
  }
  route.steps_.back().island = island;
  return route;
}

Route Route::of_requests(const Map& map, IslandId island) {
  Route route;
  route.steps_.push_back({.lane = lane_up(map, island), .own_edge = island});
  return route;
}

}  // namespace cotillion
