#include "plan/shortest_tree.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace cotillion {

TreeFinder::TreeFinder(const NetworkModel& network)
    : network_(network), name_rank_(network.map().place_count()), out_(name_rank_.size()) {
  const Map& map = network.map();
  std::vector<PlaceId> order(name_rank_.size());
  std::iota(order.begin(), order.end(), PlaceId(0));
  std::sort(order.begin(), order.end(),
            [&](PlaceId a, PlaceId b) { return place_name(map, a) < place_name(map, b); });
  for (std::size_t k = 0; k < order.size(); ++k) name_rank_[order[k]] = int(k);
  for (std::size_t k = 0; k < map.links.size(); ++k)
    for (int direction = 0; direction < 2; ++direction)
      out_[map.links[k].ends[direction]].push_back(lane_of_link(int(k), direction));
}

PlaceTree TreeFinder::find(const Clique& clique, int sender,
                           const std::function<bool(LaneId)>& may) const {
  struct Reach {
    Duration latency;
    int hops = -1;
    int rank = 0;  // of the predecessor's name
    bool is_final = false;
  };
  const Map& map = network_.map();
  PlaceTree tree(network_, clique, sender);
  IdVector<PlaceId, Reach> reached(out_.size());
  using Entry = std::tuple<Duration, int, int, PlaceId>;  // latency, hops, rank, place
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const PlaceId from = clique.islands[sender];
  reached[from].hops = 0;
  queue.emplace(Duration{}, 0, name_rank_[from], from);
  while (!queue.empty()) {
    const PlaceId at = std::get<3>(queue.top());
    queue.pop();
    if (reached[at].is_final) continue;
    reached[at].is_final = true;
    for (const LaneId lane : out_[at]) {
      const PlaceId next = lane_ends(map, lane);
      if (reached[next].is_final || !may(lane)) continue;
      const Reach offer{reached[at].latency + lane_latency(map, lane), reached[at].hops + 1,
                        name_rank_[at], false};
      const auto key = [](const Reach& reach) {
        return std::tuple(reach.latency, reach.hops, reach.rank);
      };
      if (reached[next].hops >= 0 && key(offer) >= key(reached[next])) continue;
      reached[next] = offer;
      tree.enter(lane);
      queue.emplace(offer.latency, offer.hops, name_rank_[next], next);
    }
  }
  return tree;
}

}  // namespace cotillion
