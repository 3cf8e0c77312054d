// Priced rounds written out as a plan: streams with their trees and offsets, what binds each
// clique, and what lanes and edges carry. When rounds begin is for others to say.
#pragma once

#include "plan/plan.hpp"
#include "plan/round_price.hpp"

namespace cotillion {

[[nodiscard]] PlannedRound planned_round(const NetworkModel& network, const Round& round,
                                         const PricedRound& priced);

// All of them, without times and objectives.
[[nodiscard]] Plan untimed_plan(const NetworkModel& network, const Schedule& schedule,
                                const PlanSettings& settings, const Mixing& mixing,
                                const std::vector<PricedRound>& rounds);

// Copies of the payload that each island emits in a period.
[[nodiscard]] std::vector<int> payloads_sent(const NetworkModel& network, const Plan& plan);

}  // namespace cotillion
