// Staleness counted, not by formula: a plan's copies and merges replayed for ever (ledger.hpp).
#pragma once

#include <vector>

#include "plan/ledger.hpp"
#include "plan/plan.hpp"

namespace cotillion {

// By kObjectives: a whole objective copies and merges everything at once, a streamed one fragment
// by fragment. Infinite where the plan is infeasible or islands never connect. For rounds that end
// before the next begins, whole forms equal the formula T(A + ½); streamed ones are below T(A − ½)
// + d, because not everybody waits for the slowest.
[[nodiscard]] std::vector<RealDuration> exact_staleness(const NetworkModel& network,
                                                        const Plan& plan);
[[nodiscard]] std::vector<RealDuration> exact_staleness(int islands, const Plan& plan);
// Of one exchange: in so many fragments, or whole (0). The plan must be feasible.
[[nodiscard]] ExactStaleness exact_staleness(int islands, const Plan& plan, int fragments);

}  // namespace cotillion
