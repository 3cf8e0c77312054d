// How long rounds last. The paper gives all of them the length of the dearest; relaxed, each is as
// long as it needs, and longer only where that is better: a round in which little is left to mix
// may be worth stretching, since generations weigh as much as their round is long.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace cotillion {

// The lengths, none below its least, at which the objective is least. `delays` as in staleness().
[[nodiscard]] std::vector<RealDuration> best_lengths(Objective objective, const Mixing& mixing,
                                                     std::vector<RealDuration> least,
                                                     const std::vector<RealDuration>& delays);

}  // namespace cotillion
