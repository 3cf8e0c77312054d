// Exact search by branch and bound: the best schedule of a small map, proven over every sequence of
// partitions of every period up to a given one.
//
// Legend: x, y partitions; f(x, y) what one and two rounds leave (partition_table.hpp); U the
// value to beat; β what U leaves for e₁ + e₂ + … at a given round length. A period x₁ … x_P has
// A ≥ 1 + mean of f over its P consecutive pairs, so only those with Σf ≤ P·β can beat U. Among
// the rotations of such a period one has all its partial sums below their share (the cycle
// lemma): f(x₁,x₂) ≤ β, f(x₁,x₂) + f(x₂,x₃) ≤ 2β, …. Only pairs with f ≤ β need to be extended,
// and on real maps they are few.
//
// β is that of the longest round, which may come last. Where round lengths lie far apart (a second
// stream on a thin link doubles them) many short rounds have room to mix badly among themselves but
// not beside a long one, so every sum is held against the length that a path has grown to. Three
// rounds mix alike in any order: they are built up from the pair with the least f. And rounds that
// together leave islands unconnected are left out before anything is mixed.
#pragma once

#include <functional>

#include "search/constraints.hpp"
#include "search/walker.hpp"
#include "search/workers.hpp"

namespace cotillion {

// How far to go: to `all`, for about a minute, then up to `cheap` for as long as it takes no more
// than a second in all. Often few pairs are left by then, and longer periods cost next to nothing.
struct ExactPeriods {
  int all = 0;
  int cheap = 0;
};

struct ExactResult {
  Standing best;    // no worse than what was given to beat; what was broken off counts, too
  Standing proven;  // no schedule of a period up to the next is better; that one may be longer
  int period_proven = 0;  // 0: nothing is proven
  double class_size = 0;  // schedules of these periods
  std::int64_t partitions = 0;
  std::int64_t evaluated = 0;
};

// Requires at most kSmallIslandsMax islands. `to_beat` may be infinite and empty. `stop` is asked
// between pieces of work; a period that was broken off is not proven. `tell` hears, from one
// worker, which period is being proven and how much of it is done.
[[nodiscard]] ExactResult search_exactly(const NetworkModel& network, const Score& score,
                                         const Rules& rules, const ExactPeriods& periods,
                                         const Standing& to_beat, Workers& workers,
                                         const std::function<bool()>& stop,
                                         const std::function<void(int, double)>& tell);

}  // namespace cotillion
