// The reach bound: how far an update can have got after some rounds, and what must survive of it.
//
// supp_i(h) is the number of islands of whose updates island i has heard after h rounds: the
// nonzeros of row i of Φ. After the first round it is the size of i's clique. A further round
// makes row i the mean of its clique's rows, so supp_i(h) is at most the sum of their
// supp(h − 1); the mates are ones that i may meet and that may be in cliques as large. It is also
// at most the number of islands within h meetings. A row with s nonzeros that add up to one is
// no nearer to 1/N than one with s entries of 1/s:
//
//   Σ_j |Φ_ij − 1/N| ≥ 2(N − s)/N,   Σ_j (Φ_ij − 1/N)² ≥ 1/s − 1/N   (Cauchy and Schwarz),
//
// hence e(h) ≥ Σ_i (N − supp_i)/(N(N − 1)), and the like for the squared curve. None of this
// depends on the phase.
#pragma once

#include <vector>

#include "search/gathering.hpp"

namespace cotillion {

struct ReachBound {
  std::vector<double> survival;  // at least e(1), e(2), …; nothing is known beyond
  std::vector<double> reached;   // at most, as a share of islands, likewise
};

[[nodiscard]] ReachBound reach_bound(const Gathering& gathering, int island_count, bool squared);

}  // namespace cotillion
