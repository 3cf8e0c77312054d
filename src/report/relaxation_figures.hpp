// What relaxations make of a schedule: what each is worth alone and all together, and, where rounds
// overlap, two of them in time.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "report/bars.hpp"
#include "search/search.hpp"

namespace cotillion {

// Staleness by the chosen objective without relaxations, with each alone and with all, of every
// schedule.
[[nodiscard]] BarChart relaxation_bars(const NetworkModel& network,
                                       const std::vector<Schedule>& schedules,
                                       const PlanSettings& settings);

// Where the answer stands against what no relaxed plan can beat.
[[nodiscard]] std::string bound_words(const SearchResult& found);

// Two rounds of a plan that overlaps, from one's start: what each island sends and what is summed
// into it. Of more than sixteen islands the first sixteen are drawn. Requires plan.overlapped.
[[nodiscard]] std::string overlap_timeline_svg(const NetworkModel& network, const Plan& plan,
                                               std::size_t round_index);

}  // namespace cotillion
