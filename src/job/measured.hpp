// From what the members of a job reported, round by round, to the outcome of the job: the same form
// that the simulator's has, so that both stand beside their plan.
#pragma once

#include "job/coordinator.hpp"
#include "job/outcome.hpp"

namespace cotillion {

// Rounds of which anybody reported anything. A clique is complete when everyone in it reported and
// missed nothing; Ŵ of a round is there when every island sent its row.
[[nodiscard]] Outcome measured_outcome(const PlanFile& plan, const JobAssignment& assignment,
                                       const std::vector<Account>& accounts);

}  // namespace cotillion
