// The cut bound: how fast mass can cross a cut, and what must survive until enough has crossed.
//
// Let S be some of the islands, y = Φ·1_S (between 0 and 1), and m = Σ_{i∈S} y_i the mass that has
// stayed inside: |S| at birth, |S|²/N in the end. A clique of s members inside and s' outside
// moves ss'/(s+s')·(mean y inside − mean y outside) ≤ ss'/(s+s') of it. Every stream of an inside
// member must leave S on some lane, so Σs over such cliques is at most σ, the streams that lanes
// out of S can take, nor more than the inside islands that may meet anyone outside; likewise
// Σs' ≤ σ'. As ss'/(s+s') is concave and homogeneous, a round moves at most κ = σσ'/(σ+σ'); and
// without multicast ss' copies cross each way, so at most half of the fewer. After h rounds
//
//   g = |S||S̄|/N − hκ  is left to move,  e(h) ≥ 2g/(N − 1),
//
// because the four blocks of Φ − J add up to g, −g, −g and g; for the squared curve Cauchy and
// Schwarz, block by block, give (g·N/(|S||S̄|))²/(N − 1).
//
// Cuts are prefixes of orders of the places: along the line of islands, outwards from some of
// them, by region, and by a vector that varies slowly across wide links.
#pragma once

#include <string>
#include <vector>

#include "search/gathering.hpp"

namespace cotillion {

struct CutBound {
  std::vector<double> survival;  // at least e(1), e(2), …
  // The cut that holds out longest:
  int inside = 0;       // islands
  double crossing = 0;  // σ and σ' together
  IslandId first = -1;  // an island inside
};

class Cuts {
 public:
  Cuts(const NetworkModel& network, const Rules& rules);
  [[nodiscard]] CutBound bound(const Gathering& gathering, bool squared) const;

 private:
  using Order = std::vector<int>;  // rank by place; islands have distinct ranks 0 … N − 1
  void add(const std::vector<IslandId>& islands);
  void add_outwards(const std::vector<IslandId>& sources);
  void add_regions();
  void add_slow();

  const NetworkModel& network_;
  int n_;
  bool uniform_ = true;  // all cliques average; pinned ones might move more
  std::vector<Order> orders_;
};

}  // namespace cotillion
