// An outcome for people and for programs: planned | simulated side by side, clique by clique.
#pragma once

#include <string>

#include "plan/plan_loader.hpp"
#include "report/outcome.hpp"

namespace cotillion {

[[nodiscard]] std::string outcome_text(const PlanFile& plan, const Outcome& outcome);
[[nodiscard]] Json outcome_json(const PlanFile& plan, const Outcome& outcome,
                                const Provenance& made_by);

// Everything came, on time, and nothing was put out early: the plan holds.
[[nodiscard]] bool holds(const Outcome& outcome);

}  // namespace cotillion
