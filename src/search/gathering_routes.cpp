// What a Gathering learns once from a map: funnels, and who is near.
#include <algorithm>

#include "search/gathering.hpp"

namespace cotillion {
Gathering::Gathering(const NetworkModel& network, const Rules& rules, int fragments)
    : network_(network),
      n_(network.map().islands.size()),
      clique_max_(rules.clique_max()),
      cache_(network, fragments),
      pairs_(network, rules, fragments) {
  // Pinned rounds are taken as they are, whatever other rules say.
  for (const Round& round : rules.pinned())
    for (const Clique& clique : round.cliques) clique_max_ = std::max(clique_max_, clique.size());
  const Map& map = network.map();
  for (LaneId lane = 0; lane < map.lane_count(); ++lane)
    time_.push_back(cache_.pace(lane, 1) * double(network.payload().count));
  node_at_.assign(std::size_t(map.place_count()), -1);
  count_.assign(node_at_.size(), 0);
  seen_.assign(node_at_.size(), 0);
  for (IslandId a = 0; a < map.island_count(); ++a) {
    std::vector<IslandId>& others = by_flight_.emplace_back();
    for (IslandId b = 0; b < map.island_count(); ++b)
      if (a != b) others.push_back(b);
    std::stable_sort(others.begin(), others.end(),
                     [&](IslandId b, IslandId c) { return flight(a, b) < flight(a, c); });
  }
  for (IslandId i = 0; i < map.island_count(); ++i) {
    towards_.push_back(funnel_of(i, Direction::kTowards));
    if (!network.technology().multicast) away_.push_back(funnel_of(i, Direction::kAway));
  }
}

// Equally short routes may part and join again; a route is followed only as far as it keeps to
// the tree, and joins where it leaves it: that forgets lanes, and so allows more.
Gathering::Funnel Gathering::funnel_of(IslandId island, Direction direction) {
  const Map& map = network_.map();
  const bool away = direction == Direction::kAway;
  const PlaceId root = away ? island : network_.meeting_place(island);
  Funnel funnel;
  funnel.parent.push_back(-1);
  funnel.lane.push_back(-1);
  funnel.node_of.assign(n_, 0);
  std::vector<PlaceId> places{root};
  node_at_[root] = 0;
  for (IslandId other = 0; other < map.island_count(); ++other) {
    if (other == island) continue;
    int at = 0;
    const auto step = [&](LaneId lane) {
      const PlaceId far = map.links[lane / 2].ends[away ? 1 - lane % 2 : lane % 2];
      int& node = node_at_[far];
      if (node < 0) {
        node = int(funnel.parent.size());
        funnel.parent.push_back(at);
        funnel.lane.push_back(lane);
        places.push_back(far);
      } else if (funnel.parent[node] != at || funnel.lane[node] != lane) {
        return false;
      }
      at = node;
      return true;
    };
    if (away) {
      for (const LaneId lane : network_.routes().path(network_.meeting_place(other), island))
        if (!step(lane)) break;
    } else {
      network_.routes().walk_back(root, other, step);
    }
    funnel.node_of[other] = at;
  }
  for (const PlaceId place : places) node_at_[place] = -1;
  return funnel;
}

}  // namespace cotillion
