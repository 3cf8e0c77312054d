// The pace of a clique whose edges have different memories.
#pragma once

#include "plan/clique_price.hpp"

namespace cotillion {

// The u that minimises z(u). Requires that some pace is feasible: no cycle among receivers
// without memory is positive (price_clique has checked it, in integers).
[[nodiscard]] double best_pace_unequal(const CliqueLatencies& latencies, const Demand& demand,
                                       PriceScratch& scratch);

}  // namespace cotillion
