// What people use today, priced on our map: all-reduce over a ring and over a butterfly, gossip
// over one-peer exponential graphs and over random pairs. All unicast between islands.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "plan/flows.hpp"
#include "plan/mixing.hpp"
#include "plan/ring.hpp"

namespace cotillion {

// Mixing depends on who meets whom, not on rates or memory: what has been computed once for a map
// is kept here under a name, and a sweep over anything but the map itself reuses it.
class MixingMemory {
 public:
  const Mixing& recall(const std::string& name, const Schedule& schedule, int island_count) {
    const auto known = known_.find(name);
    if (known != known_.end()) return known->second;
    return known_.emplace(name, mix(schedule, island_count)).first->second;
  }

 private:
  std::map<std::string, Mixing> known_;
};

// One exchange of a rival, whatever surrounds it.
struct RivalExchange {
  RealDuration time;
  RealDuration serialisation;  // the part of it that streaming in fragments would shorten
  Mixing mixing;               // of repeating it
  double payloads_out = 0;     // payloads that leave, and enter, each island in an exchange
  FlowShare limit;
};

// Direct reduce-scatter and all-gather: every island owns a part of the payload, receives it from
// everybody, then sends the sum to everybody. Two phases, each as long as its slowest flow.
[[nodiscard]] RivalExchange butterfly(const NetworkModel& network, MixingMemory& memory);

[[nodiscard]] RivalExchange ring(const NetworkModel& network, const std::vector<IslandId>& order,
                                 MixingMemory& memory);

// Round k: each island sends its state to the one 2^k places on, and averages with what it gets.
[[nodiscard]] RivalExchange one_peer_exponential(const NetworkModel& network,
                                                 const std::vector<IslandId>& order,
                                                 MixingMemory& memory);
// An order in which the exponential graph's long jumps are short flights: the best up to
// kExponentialExactMax islands, by local search above.
inline constexpr int kExponentialExactMax = 8;
[[nodiscard]] std::vector<IslandId> exponential_order(const NetworkModel& network);

// Fresh random pairs each round; T fits the slowest round that was drawn.
[[nodiscard]] RivalExchange random_pairs(const NetworkModel& network, std::uint64_t seed,
                                         int rounds, MixingMemory& memory);

}  // namespace cotillion
