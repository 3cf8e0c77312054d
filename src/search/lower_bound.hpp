// The lower bound: what no schedule can beat, whatever its period. It is the least, over round
// lengths, of the objective with the best mixing that rounds so short could allow.
#pragma once

#include <functional>
#include <string>

#include "search/constraints.hpp"
#include "search/score.hpp"

namespace cotillion {

struct LowerBound {
  RealDuration value;
  RealDuration length;  // the round length at which it is reached
  double area = 0;      // and the area that bounds it there
  std::string reason;   // in words
};

// `stop` is asked between looks; stopped early, the bound is weaker and still holds.
[[nodiscard]] LowerBound lower_bound(const NetworkModel& network, const Score& score,
                                     const Rules& rules, const std::function<bool()>& stop = {});

}  // namespace cotillion
