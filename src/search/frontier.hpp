// The Pareto frontier of round length and mixing. Rounds may take longer to mix better, and how
// much better decides whether that pays. The paper's condition for T(A + ½) to be least is that the
// elasticity of A in T there is −(1 + 1/(2A)).
#pragma once

#include <memory>
#include <vector>

#include "search/search.hpp"
#include "search/walker.hpp"

namespace cotillion {

// Found by annealing for the least area within each of `settings.frontier_points` lengths, from
// every start; lengths and areas both improve along the result.
[[nodiscard]] std::vector<FrontierPoint> best_areas(
    const NetworkModel& network, const SearchSettings& settings, const Rules& rules,
    const Neighbourhood& neighbourhood, const std::vector<Schedule>& starts, int period_max,
    const std::vector<std::unique_ptr<CliqueCache>>& caches, Workers& workers);

// d ln A / d ln T between neighbours of a point; 0 at the ends of the frontier.
[[nodiscard]] double elasticity(const std::vector<FrontierPoint>& frontier, std::size_t point);
// At which T(A + ½) is least.
[[nodiscard]] double elasticity_at_best(double area);

}  // namespace cotillion
