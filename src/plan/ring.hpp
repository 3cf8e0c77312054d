// Ring all-reduce on a map: what it costs in a given order, and the order that costs least.
//
// N islands, the payload in N parts. In 2(N−1) steps each part travels the ring nearly twice:
// summed on the way round, then copied on. Nothing waits for the slowest step of the others, only
// for the part before it, so the exchange lasts as long as its slowest chain:
//
//   2(N−1)·(D/N)/b + the longest run of 2(N−1) consecutive hops
//
// with b the least share that any of the ring's flows gets while all N of them run.
#pragma once

#include <vector>

#include "plan/flows.hpp"

namespace cotillion {

struct RingPrice {
  RealDuration time;
  RealDuration serialisation;  // the part of it that shrinks with the payload
  FlowShare limit;
};
// Requires every island exactly once in `order`.
[[nodiscard]] RingPrice price_ring(const NetworkModel& network, const std::vector<IslandId>& order);
// The same with flows around full lanes: one price for each rate that lanes can give all of them so
// and that is more than the shortest ways give, fastest first.
[[nodiscard]] std::vector<RingPrice> price_rerouted_rings(const NetworkModel& network,
                                                          const std::vector<IslandId>& order);

struct RingOrder {
  std::vector<IslandId> order;
  bool exact = false;  // proven cheapest; otherwise the best that local search found
};
inline constexpr int kRingExactMax = 12;
[[nodiscard]] RingOrder best_ring(const NetworkModel& network);

}  // namespace cotillion
