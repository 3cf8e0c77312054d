// The paper's full linear program (Equation cliquelp), handed to CLP: every completion and every
// memory constraint as printed, nothing of what clique_price.cpp knows about their structure.
#pragma once

#include <optional>

#include "base/units.hpp"
#include "plan/clique_price.hpp"

namespace cotillion::testing {

// T_c, or nothing when CLP proves the program infeasible.
[[nodiscard]] std::optional<RealDuration> clp_price(const CliqueLatencies& latencies,
                                                    const Demand& demand);

}  // namespace cotillion::testing
