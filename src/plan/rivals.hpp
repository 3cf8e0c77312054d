// What people use today, priced on our map: all-reduce over a ring and over a butterfly, whole or
// in fragments, gossip over one-peer exponential graphs and over random pairs. All unicast between
// islands.
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

struct RivalTime {
  RealDuration time;
  RealDuration serialisation;  // the part of it that streaming in fragments would shorten
};

// One exchange of a rival, whatever surrounds it.
struct RivalExchange : RivalTime {
  Mixing mixing;            // of repeating it
  double payloads_out = 0;  // payloads that leave, and enter, each island in an exchange
  FlowShare limit;
  std::vector<RivalTime> rounds;  // of a period, where they are not alike; the dearest is above
};

// Direct reduce-scatter and all-gather: every island owns a part of the payload, receives it from
// everybody, then sends the sum to everybody. Two phases, each as long as its slowest flow.
[[nodiscard]] RivalExchange butterfly(const NetworkModel& network, MixingMemory& memory);

[[nodiscard]] RivalExchange ring(const NetworkModel& network, const std::vector<IslandId>& order,
                                 MixingMemory& memory);
// The ring with its flows around full lanes, at each rate that lanes can give all of them so.
[[nodiscard]] std::vector<RivalExchange> rerouted_rings(const NetworkModel& network,
                                                        const std::vector<IslandId>& order,
                                                        MixingMemory& memory);

// The payload in fragments that follow one another through the exchange, as in Streaming DiLoCo.
// A fragment is merged before it is copied again, and the next ones start while it is under way. So
// a cycle is as long as all of the payload takes to pass where it is slowest, or as one fragment
// takes to arrive everywhere, whichever is longer.
struct StreamedExchange {
  RivalExchange cycle;
  RealDuration delay;  // from a fragment's copy to its merge
};
[[nodiscard]] StreamedExchange streamed_butterfly(const NetworkModel& network, int fragments,
                                                  MixingMemory& memory);
[[nodiscard]] StreamedExchange streamed_ring(const RivalExchange& ring, int fragments);

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
