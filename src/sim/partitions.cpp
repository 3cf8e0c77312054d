#include "sim/partitions.hpp"

#include <algorithm>
#include <numeric>

namespace cotillion {
namespace {

// Turns shorter than this cost more than they save.
constexpr Duration kShortestTurn{20'000'000};

}  // namespace

Partitions Partitions::single(const Map& map) {
  Partitions partitions;
  partitions.of_.assign(std::size_t(map.place_count()), 0);
  return partitions;
}

Partitions::Partitions(const Map& map, const IdVector<IslandId, Ingress>& ingress)
    : of_(std::size_t(map.place_count())) {
  std::iota(of_.begin(), of_.end(), 0);
  const auto join = [&](PlaceId one, PlaceId other) {
    const int from = of_place(one), into = of_place(other);
    std::replace(of_.begin(), of_.end(), from, into);
  };
  for (IslandId island = 0; island < map.island_count(); ++island)
    join(ingress[island].from, island);
  for (const Link& link : map.links)
    if (std::min(link.latency[0], link.latency[1]) < kShortestTurn)
      join(link.ends[0], link.ends[1]);
  for (const Link& link : map.links)
    if (of_place(link.ends[0]) != of_place(link.ends[1]))
      lookahead_ = std::min({lookahead_, link.latency[0], link.latency[1]});
  // Numbered without gaps.
  std::vector<int> names = of_.plain();
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  count_ = int(names.size());
  for (int& partition : of_)
    partition = int(std::lower_bound(names.begin(), names.end(), partition) - names.begin());
}

}  // namespace cotillion
