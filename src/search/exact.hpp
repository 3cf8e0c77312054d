// Exact search by branch and bound: the best schedule of a small map, proven over every sequence of
// partitions of every period up to a given one.
//
// Legend: x, y partitions; f(x, y) what one and two rounds leave (partition_table.hpp); U the
// value to beat; β what U leaves for e₁ + e₂ + … at a given round length. A period x₁ … x_P has
// A ≥ 1 + mean of f over its P consecutive pairs, so only those with Σf ≤ P·β can beat U. Among
// the rotations of such a period one has all its partial sums below their share (the cycle
// lemma): f(x₁,x₂) ≤ β, f(x₁,x₂) + f(x₂,x₃) ≤ 2β, …. Only pairs with f ≤ β need to be extended,
// and on real maps they are few.
#pragma once

#include <functional>

#include "search/constraints.hpp"
#include "search/walker.hpp"
#include "search/workers.hpp"

namespace cotillion {

struct ExactResult {
  Standing best;          // no worse than what was given to beat
  int period_proven = 0;  // the best of all periods up to this one; 0: nothing is proven
  double class_size = 0;  // schedules of these periods
  std::int64_t partitions = 0;
  std::int64_t evaluated = 0;
};

// Requires at most kSmallIslandsMax islands. `to_beat` may be infinite and empty. `stop` is asked
// between pieces of work; a period that was broken off is not proven. `tell` hears, from one
// worker, which period is being proven and how much of it is done.
[[nodiscard]] ExactResult search_exactly(const NetworkModel& network, const Score& score,
                                         const Rules& rules, int period_max,
                                         const Standing& to_beat, Workers& workers,
                                         const std::function<bool()>& stop,
                                         const std::function<void(int, double)>& tell);

}  // namespace cotillion
