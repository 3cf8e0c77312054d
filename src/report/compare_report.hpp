// Policies side by side, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "plan/file/plan_file.hpp"
#include "plan/sweep.hpp"

namespace cotillion {

[[nodiscard]] std::string compare_text(const NetworkModel& network, const CompareSettings& settings,
                                       const std::vector<Policy>& policies);
[[nodiscard]] Json compare_json(const NetworkModel& network, const CompareSettings& settings,
                                const std::vector<Policy>& policies, const Provenance& made_by);

[[nodiscard]] std::string sweep_text(const Sweep& sweep, Objective objective);
[[nodiscard]] Json sweep_json(const Map& map, const Sweep& sweep, Objective objective,
                              const Provenance& made_by);

// "edge memory", "access rate", … and the unit its numbers are in.
[[nodiscard]] std::string knob_name(Knob knob);
[[nodiscard]] std::string knob_unit(Knob knob);

// What the paper's claim of idle GPUs comes to on this map, and on what it depends.
[[nodiscard]] std::string idle_claim(const CompareSettings& settings,
                                     const std::vector<Policy>& policies);

}  // namespace cotillion
