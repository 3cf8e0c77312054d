// When islands copy and when sums set out, in rounds that may overlap: the least staleness over all
// times that keep the order of things.
//
// Legend: u pace, S = D·u how long a stream takes to pass, F fragments, M edge memory, ℓ_ij latency
// to i from j, P rounds in a period of length Λ; a_kj when the first byte of j's copy leaves in
// round k, o_ki when the sum of everyone's begins to come into i, d the longest time from a copy to
// its merge. In a clique, for members i and j:
//
//   o_ki ≥ a_kj + ℓ_ij, a_ki                     everybody is there, i's own copy made
//   a_kj ≥ o_ki − ℓ_ij − M_i·u                   what comes early fits into i's edge, j ≠ i
//   a_kj ≥ o_ki + S/F − d                        the delay, j = i too
//
// and from round k to the next round k' in which the same island takes part, wrapping Λ at the end:
//
//   a_k'i ≥ a_ki + S_k, o_k'i ≥ o_ki + S_k       one stream after the other, out and in
//   a_k'i + f·S_k'/F ≥ o_ki + (f+1)·S_k/F        merged before it is copied again, every fragment
//   a_k'j ≥ o_ki + S_k − ℓ_ij − M_i·u_k          j's next stream fits beside what is still there
//
// The last follows from the others where both rounds have one pace. Minimised is (Λ/P)(A − ½) + d:
// rounds longer than they need to be can be worth it for a shorter delay, and the reverse.
// plan/event_graph does it exactly. That formula takes all rounds for equally long; where copies
// come at very unequal intervals what is lived (ledger.hpp) can be more than it says.
#pragma once

#include <vector>

#include "base/units.hpp"
#include "topology/map.hpp"

namespace cotillion {

// One clique of one round; a clique of one, or none, lets an island rest.
struct TimedClique {
  std::vector<IslandId> islands;  // ascending
  std::vector<Duration> latency;  // ℓ, to-major: latency[to·n + from], by member
  double pace = 0;                // u, picoseconds per byte of payload
  std::vector<double> memory;  // M by member, bytes of payload; kUnlimited where nothing is summed
};

struct TimingProblem {
  int island_count = 0;
  double payload = 0;       // D, bytes
  int fragments = 1;        // F
  double area = 1;          // A, or A₂; finite
  double slack = 0;         // picoseconds between a merge and the next copy of the same fragment
  double headroom = 0;      // a stream and a sum keep their lanes for S·(1 + headroom)
  double period_least = 0;  // picoseconds, where traffic is capped
  // Copies as late as the sums allow instead of as early: Λ, d and the sums stay as they are, but
  // copies hold what is newer, and edges hold less. Exact staleness (ledger.hpp) mostly falls, by a
  // few per cent; where copies then come at less even intervals it can rise.
  bool late_copies = false;
  std::vector<std::vector<TimedClique>> rounds;
};

// Picoseconds from the start of the period, which is the first copy of all.
struct Timing {
  bool feasible = false;  // no if edges without memory cannot align their streams
  double period = 0;      // Λ
  double delay = 0;       // d
  // By round, then island. Where an island rests there is neither copy nor sum; the times are those
  // from which there could be, not before the round starts nor after its next copy.
  std::vector<std::vector<double>> copy;
  std::vector<std::vector<double>> sum;
  std::vector<double> start;  // of rounds: never decreasing, not after any copy of the round
};

// The times are the earliest at the best Λ and d, those of copies where asked the latest.
[[nodiscard]] Timing best_timing(const TimingProblem& problem);

}  // namespace cotillion
