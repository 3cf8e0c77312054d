#include "search/score.hpp"

#include <algorithm>
#include <cmath>

namespace cotillion {

double Score::length(double round_ps, const std::vector<const Grouping*>& rounds) const {
  std::vector<int> sent;  // copies of the payload that each island emits in a period
  if (capped()) {
    sent.assign(network_.map().islands.size(), 0);
    for (const Grouping* round : rounds)
      for (IslandId i = 0; i < round->island_count(); ++i) {
        const int others = round->size(round->group_of(i)) - 1;
        sent[i] += network_.technology().multicast ? std::min(others, 1) : others;
      }
  }
  const RealDuration price = RealDuration::from_ps(round_ps);
  const double own = round_length(network_, settings_, price, sent, int(rounds.size())).ps;
  if (within_ <= 0) return own;
  return own <= within_ ? within_ : own * std::pow(own / within_, kSteepness);
}

}  // namespace cotillion
