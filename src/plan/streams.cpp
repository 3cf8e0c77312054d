#include "plan/streams.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace cotillion {

StreamRoute route_stream(const NetworkModel& network, const Clique& clique, int sender) {
  const IslandId from = clique.islands[sender];
  std::map<LaneId, int> copies;
  int sent = 0;
  for (const IslandId to : clique.islands) {
    if (to == from) continue;
    ++sent;
    network.routes().walk_back(network.meeting_place(to), from, [&](LaneId lane) {
      ++copies[lane];
      return true;
    });
  }
  StreamRoute route;
  const bool multicast = network.technology().multicast;
  route.tree.push_back(lane_up(network.map(), from));
  route.copies.push_back(multicast ? 1 : sent);
  for (const auto& [lane, count] : copies) {
    route.tree.push_back(lane);
    route.copies.push_back(multicast ? 1 : count);
  }
  return route;
}

void LoadCounter::count_sender(const Clique& clique, int sender) {
  const IslandId from = clique.islands[sender];
  const bool multicast = network_.technology().multicast;
  add(lane_up(network_.map(), from), multicast ? 1 : clique.size() - 1);
  ++tree_;
  for (const IslandId to : clique.islands) {
    if (to == from) continue;
    network_.routes().walk_back(network_.meeting_place(to), from, [&](LaneId lane) {
      if (multicast && seen_[lane] == tree_) return false;  // the trunk is counted already
      seen_[lane] = tree_;
      add(lane, 1);
      return true;
    });
  }
}

void LoadCounter::count_receiver(const Clique& clique, int receiver) {
  const IslandId to = clique.islands[receiver];
  add(lane_down(network_.map(), to), network_.aggregates(to) ? 1 : clique.size() - 1);
  const PlaceId via = network_.meeting_place(to);
  if (via == to) return;
  network_.routes().walk_back(to, via, [&](LaneId lane) {
    add(lane, 1);
    return true;
  });
}

void LoadCounter::count(const Clique& clique, std::vector<LaneLoad>& loads) {
  loads.clear();
  if (clique.size() < 2) return;
  for (int member = 0; member < clique.size(); ++member) {
    count_sender(clique, member);
    count_receiver(clique, member);
  }
  std::sort(used_.begin(), used_.end());
  for (const LaneId lane : used_) {
    loads.push_back({lane, streams_[lane]});
    streams_[lane] = 0;
  }
  used_.clear();
}

void share_lanes(const IdVector<LaneId, BitsPerSecond>& rates,
                 const std::vector<const std::vector<LaneLoad>*>& loads,
                 IdVector<LaneId, int>& total, std::vector<RateBound>& bounds) {
  for (const auto* clique : loads)
    for (const LaneLoad& load : *clique) total[load.lane] += load.streams;
  bounds.clear();
  for (const auto* clique : loads) {
    RateBound bound{{std::numeric_limits<double>::infinity()}, -1, 0};
    for (const LaneLoad& load : *clique) {
      const BitsPerSecond share = rates[load.lane] / total[load.lane];
      if (share < bound.rate) bound = {share, load.lane, total[load.lane]};
    }
    bounds.push_back(bound);
  }
  for (const auto* clique : loads)
    for (const LaneLoad& load : *clique) total[load.lane] = 0;
}

RoundRates rates_of(const NetworkModel& network, const Round& round) {
  const Map& map = network.map();
  IdVector<LaneId, BitsPerSecond> rates;
  for (LaneId lane = 0; lane < map.lane_count(); ++lane) rates.push_back(lane_rate(map, lane));

  RoundRates result;
  result.cliques.resize(round.cliques.size());
  LoadCounter counter(network);
  std::vector<const std::vector<LaneLoad>*> loads;
  IdVector<LaneId, int> total(map.lane_count(), 0);
  for (std::size_t c = 0; c < round.cliques.size(); ++c) {
    counter.count(round.cliques[c], result.cliques[c]);
    loads.push_back(&result.cliques[c]);
    for (const LaneLoad& load : result.cliques[c]) total[load.lane] += load.streams;
  }
  for (LaneId lane = 0; lane < map.lane_count(); ++lane)
    if (total[lane] > 0) result.lanes.push_back({lane, total[lane]});
  std::fill(total.begin(), total.end(), 0);
  share_lanes(rates, loads, total, result.bounds);
  return result;
}

}  // namespace cotillion
