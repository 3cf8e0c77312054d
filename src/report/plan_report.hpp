// A plan for people.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace cotillion {

// Rounds with their cliques, then T, A and staleness, what binds, lanes and edges that are
// used most. `full` adds every lane and every edge.
[[nodiscard]] std::string plan_text(const NetworkModel& network, const Plan& plan, bool full);

// "Nine cities: payload 1 GB, edge memory 32 GB, multicast + edge aggregation".
[[nodiscard]] std::string network_text(const NetworkModel& network, const std::string& what = "");

// One line a plan, best first; infeasible and never-settling ones last.
[[nodiscard]] std::string candidates_text(const NetworkModel& network,
                                          const std::vector<Plan>& plans);

// Orders plans best first by their objective; ties keep their order.
void sort_best_first(std::vector<Plan>& plans);

}  // namespace cotillion
