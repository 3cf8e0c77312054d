// The answer, checked against the question. A certificate knows nothing of walks, envelopes or
// shapes: it takes the offsets and rates of a plan and holds them to the paper's constraints as
// they are printed (Equations completionconstraint and memoryconstraint) and to the capacity of
// every lane, shared equally. Of relaxed plans it checks trees, lengths, and, where rounds overlap,
// what lanes and edges carry at every moment and in which order each island copies and merges.
// make_plan ends the program if its own answer fails.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace cotillion {

struct Certificate {
  std::int64_t constraints = 0;     // how many were checked
  double worst = 0;                 // the largest violation, relative to the constraint's size
  std::vector<std::string> broken;  // in words; empty when all hold to rounding
};

[[nodiscard]] Certificate check_plan(const NetworkModel& network, const Plan& plan);

// b·(latest − earliest arrival) at a member's edge: the left side of the memory constraint, in
// bytes of payload.
[[nodiscard]] double edge_memory_needed(const NetworkModel& network, const PlannedClique& clique,
                                        IslandId island);

}  // namespace cotillion
