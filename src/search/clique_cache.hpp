// A cache of cliques: the lanes that each uses and what it costs at any pace. A clique is worked
// out once and looked up from then on, so that a change of rounds is priced by what it changes. No
// answer ever depends on what is in the cache already.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "plan/clique_price.hpp"
#include "plan/streams.hpp"

namespace cotillion {

struct KnownClique {
  std::vector<IslandId> islands;  // ascending
  std::vector<LaneLoad> loads;
  double flight = 0;                 // G_0, picoseconds
  double wait_most = 0;              // no step weighs more than this: arrivals spread no wider
  double memory = kUnlimited;        // least of its edges, bytes
  bool equal = true;                 // all edges have that much
  std::optional<CliqueShape> shape;  // once memory has mattered

  [[nodiscard]] int size() const { return int(islands.size()); }
};

// Both infinite when the clique cannot meet at any pace.
struct CliqueCost {
  double price = 0;  // T_c, picoseconds; D/b where rounds overlap
  double delay = 0;  // from a fragment's snapshot to its merge when streamed
};

class CliqueCache {
 public:
  static constexpr std::size_t kHeldMost = std::size_t{320} << 20;

  // Keeps a reference to the network. `fragments` as in PlanSettings; `held_most` in bytes, about.
  // Where rounds overlap, a round costs no more than its streams take to pass: prices are D/b then,
  // and delays have all the rest.
  CliqueCache(const NetworkModel& network, int fragments, std::size_t held_most = kHeldMost,
              bool overlap = false);

  // Valid until `forget`. `islands` ascending.
  [[nodiscard]] KnownClique& find(std::span<const IslandId> islands);
  // Time per byte of payload on a lane that so many streams share.
  [[nodiscard]] double pace(LaneId lane, int streams) const { return pace_[lane] * streams; }
  [[nodiscard]] CliqueCost cost(KnownClique& clique, double pace_least);

  [[nodiscard]] const NetworkModel& network() const { return network_; }
  [[nodiscard]] bool full() const { return held_ > held_most_; }
  void forget();

 private:
  void work_out(KnownClique& clique);
  void grow();

  const NetworkModel& network_;
  std::size_t held_most_;
  double payload_;
  double streamed_share_;  // of the serialisation that streaming saves: 1 − 1/F
  bool overlap_;
  std::vector<double> pace_;  // of one stream, by lane
  LoadCounter counter_;
  CliqueLatencies latencies_;
  PriceScratch scratch_;
  std::vector<std::uint64_t> keys_;  // by island; a clique's is their exclusive or
  std::deque<KnownClique> cliques_;
  std::vector<std::uint64_t> hashes_;  // by clique
  std::vector<std::int32_t> slots_;    // open addressing: a clique's number, or −1
  std::size_t held_ = 0;
};

}  // namespace cotillion
