// What no relaxed plan can beat: links that are never full, memory that never lacks, and still the
// access rates and the latencies. Every bound here is of the objective's formula, with the longest
// latency of a clique; exact accounting may come out lower (D/2b and the mean latency bound that).
#pragma once

#include "search/constraints.hpp"
#include "search/lower_bound.hpp"

namespace cotillion {

// A map on which only access rates, latencies and technologies count.
[[nodiscard]] Map without_full_links(Map map);

[[nodiscard]] LowerBound relaxed_bound(const NetworkModel& network, const PlanSettings& settings,
                                       const Constraints& constraints,
                                       const std::function<bool()>& stop);

}  // namespace cotillion
