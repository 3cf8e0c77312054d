#include "search/clique_cache.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"
#include "base/random.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kSlotsFirst = 1024;

}  // namespace

CliqueCache::CliqueCache(const NetworkModel& network, int fragments, std::size_t held_most,
                         bool overlap)
    : network_(network),
      held_most_(held_most),
      payload_(double(network.payload().count)),
      streamed_share_(1 - 1.0 / fragments),
      overlap_(overlap),
      counter_(network) {
  for (LaneId lane = 0; lane < network.map().lane_count(); ++lane)
    pace_.push_back(ps_per_byte(lane_rate(network.map(), lane)) * network.wire_factor());
  Random random(0x636c697175657321);
  for (IslandId i = 0; i < network.map().island_count(); ++i) keys_.push_back(random.next());
  forget();
}

void CliqueCache::forget() {
  cliques_.clear();
  hashes_.clear();
  slots_.assign(kSlotsFirst, -1);
  held_ = 0;
}

void CliqueCache::grow() {
  slots_.assign(slots_.size() * 2, -1);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t c = 0; c < hashes_.size(); ++c) {
    std::size_t slot = hashes_[c] & mask;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask;
    slots_[slot] = std::int32_t(c);
  }
}

KnownClique& CliqueCache::find(std::span<const IslandId> islands) {
  std::uint64_t hash = 0;
  for (const IslandId island : islands) hash ^= keys_[island];
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] >= 0; slot = (slot + 1) & mask) {
    const std::size_t known = std::size_t(slots_[slot]);
    if (hashes_[known] == hash &&
        std::equal(islands.begin(), islands.end(), cliques_[known].islands.begin(),
                   cliques_[known].islands.end()))
      return cliques_[known];
  }
  slots_[slot] = std::int32_t(cliques_.size());
  hashes_.push_back(hash);
  COTILLION_CHECK(!islands.empty() && std::is_sorted(islands.begin(), islands.end()));
  KnownClique& clique = cliques_.emplace_back();
  clique.islands.assign(islands.begin(), islands.end());
  work_out(clique);
  held_ += sizeof(KnownClique) + clique.islands.size() * sizeof(IslandId) +
           clique.loads.size() * sizeof(LaneLoad);
  if (cliques_.size() * 2 > slots_.size()) grow();
  COTILLION_CHECK(cliques_.size() == hashes_.size() && cliques_.size() * 2 <= slots_.size());
  return clique;
}

void CliqueCache::work_out(KnownClique& clique) {
  const int n = clique.size();
  if (n < 2) return;
  counter_.count({clique.islands, {}}, clique.loads);
  clique.loads.shrink_to_fit();
  double memory_most = 0;
  for (const IslandId to : clique.islands) {
    double first = kInfinity, last = 0;
    for (const IslandId from : clique.islands) {
      if (from == to) continue;
      const double flight = double(network_.latency(to, from).ps);
      first = std::min(first, flight);
      last = std::max(last, flight);
    }
    clique.flight = std::max(clique.flight, last);
    const double memory = network_.memory(to);
    if (std::isinf(memory)) continue;
    clique.wait_most = std::max(clique.wait_most, last - first);
    clique.memory = std::min(clique.memory, memory);
    memory_most = std::max(memory_most, memory);
  }
  clique.equal = std::isinf(clique.memory) || clique.memory == memory_most;
}

CliqueCost CliqueCache::cost(KnownClique& clique, double pace_least) {
  if (clique.size() < 2) return {};
  double pace = pace_least, price = clique.flight + payload_ * pace;
  // Where the least memory absorbs the widest spread, nothing waits and nothing is throttled.
  if (clique.wait_most > clique.memory * pace_least) {
    network_.latencies({clique.islands, {}}, latencies_);
    if (clique.equal) {
      if (!clique.shape) {
        std::vector<bool> counts;
        for (const IslandId island : clique.islands)
          counts.push_back(!std::isinf(network_.memory(island)));
        clique.shape = shape_of(latencies_, counts, scratch_);
        held_ += clique.shape->reach.size() * sizeof(double);
      }
      const Pace best = best_pace(*clique.shape, payload_, clique.memory, pace_least);
      if (!best.feasible) return {kInfinity, kInfinity};
      pace = best.pace;
      price = best.price_ps;
    } else {
      Demand demand{payload_, pace_least, {}};
      for (const IslandId island : clique.islands) demand.memory.push_back(network_.memory(island));
      const CliquePrice full = price_clique(latencies_, demand, scratch_);
      if (!full.feasible) return {kInfinity, kInfinity};
      pace = full.pace;
      price = full.price.ps;
    }
  }
  COTILLION_CHECK(price >= clique.flight && pace >= pace_least * (1 - 1e-12));
  const double delay = price - payload_ * pace * streamed_share_;
  return {overlap_ ? payload_ * pace : price, delay};
}

}  // namespace cotillion
