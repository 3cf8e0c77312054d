#include "topology/routes.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "base/check.hpp"

namespace cotillion {
namespace {

// Position of each place when places are sorted by name.
std::vector<int> ranks_by_name(const Map& map) {
  std::vector<PlaceId> order(map.place_count());
  std::iota(order.begin(), order.end(), PlaceId(0));
  std::sort(order.begin(), order.end(),
            [&](PlaceId a, PlaceId b) { return place_name(map, a) < place_name(map, b); });
  std::vector<int> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = int(i);
  return rank;
}

}  // namespace

Routes::Routes(const Map& map) : places_(map.place_count()), row_(places_, -1), out_(places_) {
  for (std::size_t k = 0; k < map.links.size(); ++k)
    for (int direction = 0; direction < 2; ++direction)
      out_[map.links[k].ends[direction]].push_back(lane_of_link(int(k), direction));

  std::vector<bool> starts(places_, false);
  for (IslandId i = 0; i < map.island_count(); ++i) starts[i] = true;
  for (const Aggregator& aggregator : map.aggregators) starts[aggregator.place] = true;

  const std::vector<int> name_rank = ranks_by_name(map);
  int rows = 0;
  for (const PlaceId place : out_.ids())
    if (starts[place]) row_[place] = rows++;
  hops_.resize(std::size_t(rows) * places_);
  for (const PlaceId place : out_.ids())
    if (starts[place]) search(map, place, name_rank);
}

// Dijkstra on (latency, hops), ties to the predecessor whose name sorts first. A hop adds to
// the second part of the key even when its latency is zero, so every predecessor is final
// before its successors are.
void Routes::search(const Map& map, PlaceId from, const std::vector<int>& name_rank) {
  using Entry = std::tuple<Duration, int, int, PlaceId>;  // latency, hops, rank, place
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<bool> final(places_, false);
  Hop* row = &hops_[std::size_t(row_[from]) * places_];
  row[from].hops = 0;
  queue.emplace(Duration{}, 0, name_rank[from], from);
  while (!queue.empty()) {
    const PlaceId at = std::get<3>(queue.top());
    queue.pop();
    if (final[at]) continue;
    final[at] = true;
    for (const LaneId lane : out_[at]) {
      const Link& link = map.links[lane / 2];
      const PlaceId next = link.ends[1 - lane % 2];
      Hop& known = row[next];
      const Hop offer{row[at].latency + link.latency[lane % 2], row[at].hops + 1, at, lane};
      const auto key = [&](const Hop& hop) {
        return std::tuple(hop.latency, hop.hops, name_rank[hop.predecessor]);
      };
      if (final[next]) continue;
      if (known.hops >= 0 && key(offer) >= key(known)) continue;
      known = offer;
      queue.emplace(offer.latency, offer.hops, name_rank[next], next);
    }
  }
  for (const PlaceId place : out_.ids()) COTILLION_CHECK(final[place]);
}

std::vector<LaneId> Routes::path(PlaceId to, PlaceId from) const {
  std::vector<LaneId> lanes;
  walk_back(to, from, [&](LaneId lane) {
    lanes.push_back(lane);
    return true;
  });
  std::reverse(lanes.begin(), lanes.end());
  return lanes;
}

std::vector<LaneId> Routes::tree(PlaceId from, const std::vector<PlaceId>& receivers) const {
  std::vector<LaneId> lanes;
  for (const PlaceId receiver : receivers)
    walk_back(receiver, from, [&](LaneId lane) {
      lanes.push_back(lane);
      return true;
    });
  std::sort(lanes.begin(), lanes.end());
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  return lanes;
}

}  // namespace cotillion
