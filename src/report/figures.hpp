// The report's charts, from the planner's own types: which numbers, in which units, with which
// words. How a chart is drawn is chart.hpp's business.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/mixing.hpp"
#include "plan/policy.hpp"
#include "report/bars.hpp"
#include "report/chart.hpp"

namespace cotillion {

// The paper's Figure area1: e(h) of one schedule, a step line for each phase of birth (phases
// that decay alike share one, and at most six are drawn), and the mean over phases, whose area is
// A.
[[nodiscard]] Chart survival_figure(const std::string& title, const Mixing& mixing);

// The paper's Figure area2: the mean over phases, for every schedule.
[[nodiscard]] Chart survival_comparison(
    const std::vector<std::pair<std::string, Mixing>>& schedules);

// One point a policy: what a round costs against what it buys. Policies that are infeasible or
// never settle have no point; blocking ones have no staleness and are left out.
[[nodiscard]] Chart staleness_against_round_time(const std::vector<Policy>& policies,
                                                 Objective objective = Objective::kPaper);

// The paper's Figure comparison. Blocking policies train on fresh parameters: no staleness, idle
// GPUs.
[[nodiscard]] Chart utilisation_against_staleness(const std::vector<Policy>& policies,
                                                  const std::string& title,
                                                  Objective objective = Objective::kPaper);

// A line for each name; infinite where it cannot be done. Requires as many values as xs.
[[nodiscard]] Chart sweep_figure(
    const std::string& title, const std::string& x_label, const std::vector<double>& xs,
    const std::string& y_label, const std::vector<std::pair<std::string, std::vector<double>>>& ys);

// What each technology buys: for every schedule one value per technology.
[[nodiscard]] BarChart ladder_figure(
    const std::string& title, const std::vector<std::string>& technologies,
    const std::vector<std::pair<std::string, std::vector<RealDuration>>>& staleness);

}  // namespace cotillion
