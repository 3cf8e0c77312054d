// Exact staleness: copies and merges replayed one by one, as planned or as they really were. The
// formulas of plan/objective take one delay for everyone, the longest; here every island's updates
// wait for its own next copy and count at each island from its own merge on. For rounds in which
// everyone copies at the start and merges at the end both agree.
//
// Legend: Λ period, F fragments, S how long a stream takes to pass, I the time between two copies
// of an island. What an island computes between two copies has one fate, so
//
//   J = (1/Λ) Σ over islands and their copies, at a:  I·[I·e(0)/2 + ∫ from a to ∞ of e dt],
//
// with the e of one generation (generations.hpp), and its mean over fragments.
#pragma once

#include <vector>

#include "base/units.hpp"
#include "plan/generations.hpp"

namespace cotillion {

struct ExactStaleness {
  RealDuration absolute;     // as in the paper's objective; infinite when islands never connect
  RealDuration squared;      // increments that add in quadrature
  bool approximate = false;  // the decay was too slow to follow to the end
};

// A clique of one round; whoever rests needs none. Fragment f of member m is copied at
// copy[m] + f·S/F from the start of the period and merged at sum[m] + (f+1)·S/F.
struct LedgerClique {
  std::vector<IslandId> islands;
  std::vector<double> weights;    // row-major, row i is what islands[i] takes; empty: 1/n each
  std::vector<double> copy, sum;  // by member, picoseconds, not negative; copies of a round before
                                  // the merges that take them
  double serialisation = 0;       // S, picoseconds
};

struct LedgerPlan {
  int island_count = 0;
  int fragments = 1;                              // F
  double period = 0;                              // Λ, picoseconds; 0: there is no staleness
  std::vector<std::vector<LedgerClique>> rounds;  // of one period, which repeats for ever
  std::vector<double> target;                     // π; empty: 1/N each
};
[[nodiscard]] ExactStaleness exact_staleness(const LedgerPlan& plan);

// What one fragment of every island's model went through in a run. Rounds only rise from one copy
// of an island to its next.
struct LedgerEvent {
  Instant at;
  LedgerMove move;
};
struct LedgerRun {
  int island_count = 0;
  std::vector<LedgerEvent> events;  // in any order
  std::vector<LedgerSum> sums;      // that merges took, whole or partial
  std::vector<double> target;
};
// Whether every merge takes copies that were made before it, and every copy of an island is of a
// later round than the one before. Clocks that are off can contradict it.
[[nodiscard]] bool is_sound(const LedgerRun& run);
// The mean over what was born in [from, to), as far as it was spread until `horizon`: what remains
// then is left out, so it should lie some periods after `to`. Whatever is never copied again counts
// as not spread. Requires that the run is sound.
[[nodiscard]] ExactStaleness exact_staleness(const LedgerRun& run, Instant from, Instant to,
                                             Instant horizon);

}  // namespace cotillion
