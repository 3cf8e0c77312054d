#include "plan/ways.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace cotillion {
namespace {

Way shortest_way(const NetworkModel& network, const Clique& clique, int sender) {
  Way way{route_stream(network, clique, sender), {}};
  for (const IslandId to : clique.islands)
    way.latency.push_back(network.latency(to, clique.islands[sender]));
  return way;
}

// From where a member's streams meet to the member itself; zero where they meet at its own place.
Duration last_part(const NetworkModel& network, IslandId island) {
  const PlaceId via = network.meeting_place(island);
  return via == island ? Duration{} : network.routes().latency(island, via);
}

// Counts of streams by lane, as a list of the lanes that carry any.
class LaneCounts {
 public:
  explicit LaneCounts(int lanes) : streams_(lanes, 0) {}
  void add(LaneId lane, int streams) { streams_[lane] += streams; }
  [[nodiscard]] std::vector<LaneLoad> list() const {
    std::vector<LaneLoad> loads;
    for (const LaneId lane : streams_.ids())
      if (streams_[lane] > 0) loads.push_back({lane, streams_[lane]});
    return loads;
  }

 private:
  IdVector<LaneId, int> streams_;
};

std::vector<LaneLoad> loads_of(const NetworkModel& network, const Clique& clique,
                               const CliqueWays& ways) {
  LaneCounts counts(network.map().lane_count());
  for (const Way& way : ways)
    for (std::size_t l = 0; l < way.route.tree.size(); ++l)
      counts.add(way.route.tree[l], way.route.copies[l]);
  for (const IslandId to : clique.islands) {
    if (clique.size() < 2) break;
    counts.add(lane_down(network.map(), to), network.aggregates(to) ? 1 : clique.size() - 1);
    const PlaceId via = network.meeting_place(to);
    if (via == to) continue;
    network.routes().walk_back(to, via, [&](LaneId lane) {
      counts.add(lane, 1);
      return true;
    });
  }
  return counts.list();
}

}  // namespace

RoundWays shortest_ways(const NetworkModel& network, const Round& round) {
  RoundWays ways;
  for (const Clique& clique : round.cliques) {
    ways.cliques.emplace_back();
    for (int j = 0; j < clique.size() && clique.size() > 1; ++j)
      ways.cliques.back().push_back(shortest_way(network, clique, j));
  }
  return ways;
}

void latencies_of(const CliqueWays& ways, CliqueLatencies& into) {
  const int n = int(ways.size());
  into.resize(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) into.at(i, j) = double(ways[j].latency[std::size_t(i)].ps);
}

RoundRates rates_of(const NetworkModel& network, const Round& round, const RoundWays& ways) {
  const Map& map = network.map();
  COTILLION_CHECK(ways.cliques.size() == round.cliques.size());
  IdVector<LaneId, BitsPerSecond> rates;
  for (LaneId lane = 0; lane < map.lane_count(); ++lane) rates.push_back(lane_rate(map, lane));

  RoundRates result;
  std::vector<const std::vector<LaneLoad>*> loads;
  LaneCounts total(map.lane_count());
  result.cliques.reserve(round.cliques.size());
  for (std::size_t c = 0; c < round.cliques.size(); ++c) {
    result.cliques.push_back(loads_of(network, round.cliques[c], ways.cliques[c]));
    loads.push_back(&result.cliques.back());
    for (const LaneLoad& load : result.cliques.back()) total.add(load.lane, load.streams);
  }
  result.lanes = total.list();
  IdVector<LaneId, int> scratch(map.lane_count(), 0);
  share_lanes(rates, loads, scratch, result.bounds);
  return result;
}

PlaceTree::PlaceTree(const NetworkModel& network, const Clique& clique, int sender)
    : network_(&network),
      clique_(&clique),
      sender_(sender),
      lane_(network.map().place_count(), kNotEntered) {}

PlaceId PlaceTree::meeting(int member) const {
  return network_->meeting_place(clique_->islands[std::size_t(member)]);
}

bool PlaceTree::reaches_all() const {
  const PlaceId from = clique_->islands[std::size_t(sender_)];
  for (int i = 0; i < clique_->size(); ++i) {
    if (i == sender_) continue;
    std::size_t steps = 0;
    for (PlaceId at = meeting(i); at != from;) {
      const LaneId lane = entered_by(at);
      if (lane == kNotEntered || ++steps >= lane_.size()) return false;
      at = lane_begins(network_->map(), lane);
    }
  }
  return true;
}

Way PlaceTree::way() const {
  const Map& map = network_->map();
  const IslandId from = clique_->islands[std::size_t(sender_)];
  const bool multicast = network_->technology().multicast;
  IdVector<LaneId, int> copies(map.lane_count(), 0);
  Way way;
  way.latency.resize(clique_->islands.size());
  int sent = 0;
  for (int i = 0; i < clique_->size(); ++i) {
    if (i == sender_) continue;
    ++sent;
    Duration flight = last_part(*network_, clique_->islands[std::size_t(i)]);
    for (PlaceId at = meeting(i); at != PlaceId(from);) {
      const LaneId lane = entered_by(at);
      ++copies[lane];
      flight = flight + lane_latency(map, lane);
      at = lane_begins(map, lane);
    }
    way.latency[std::size_t(i)] = flight;
  }
  way.route.tree.push_back(lane_up(map, from));
  way.route.copies.push_back(multicast ? 1 : sent);
  for (const LaneId lane : copies.ids())
    if (copies[lane] > 0) {
      way.route.tree.push_back(lane);
      way.route.copies.push_back(multicast ? 1 : copies[lane]);
    }
  return way;
}

PlaceTree tree_of(const NetworkModel& network, const Clique& clique, int sender, const Way& way) {
  PlaceTree tree(network, clique, sender);
  for (std::size_t l = 1; l < way.route.tree.size(); ++l) tree.enter(way.route.tree[l]);
  return tree;
}

}  // namespace cotillion
