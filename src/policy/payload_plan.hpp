// A plan for what training sends, and for how long its steps are.
#pragma once

#include "plan/file/plan_loader.hpp"

namespace cotillion {

[[nodiscard]] bool is_full_payload(double payload);

// The same schedule, timed for a payload of so many times the map's.
[[nodiscard]] PlanFile with_payload(const PlanFile& plan, double payload);

// In rounds that are no shorter than a step. In shorter ones copies would leave several times
// before anybody has learned anything, and corrections queue for the end of the step. What overlaps
// stays as it is: by how much that is too short only its recipe tells.
[[nodiscard]] Plan stretched_to_steps(const NetworkModel& network, Plan plan, double step_time);

// The same times within every round of an overlapping plan, and so much longer until the next.
[[nodiscard]] Plan lengthened(Plan plan, RealDuration each);

// With a payload and steps.
[[nodiscard]] PlanFile with_payload_and_steps(const PlanFile& plan, double payload,
                                              double step_time);

}  // namespace cotillion
