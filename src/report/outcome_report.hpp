// One outcome for people and for programs, as soon as it is there.
#pragma once

#include <string>

#include "report/outcome_file.hpp"

namespace cotillion {

[[nodiscard]] std::string outcome_text(const OutcomeFile& file);
[[nodiscard]] Json outcome_json(const PlanFile& plan, const Outcome& outcome,
                                const Provenance& made_by);

}  // namespace cotillion
