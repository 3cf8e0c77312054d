// What a search found and how good that is, for people and as JSON; and what a change to the map
// would make of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/file/plan_file.hpp"
#include "plan/policy.hpp"
#include "search/search.hpp"

namespace cotillion {

// How a search was run, as far as its result does not say.
struct SearchConduct {
  std::uint64_t seed = 1;
  std::int64_t steps = 0;    // asked for; 0 when the search chose
  std::string budget;        // "60s" when it ran against the clock; else empty
  bool interrupted = false;  // by the user

  // Whether running it again gives the same answer.
  [[nodiscard]] bool reproducible() const { return budget.empty() && !interrupted; }
};

// "annealing, lap 3 of 12: 1231.2 ms, at least 988.0 ms (gap 24.6 %), 512,000 moves/s".
[[nodiscard]] std::string progress_text(const SearchProgress& progress, double moves_per_second);

// How good the answer is, without an end of line: "certified optimal (paper) given shortest
// trees, rounds of one length and periods up to 3: all 3,615 schedules ruled out or priced", or the
// bound with its gap and reason. Requires a found plan.
[[nodiscard]] std::string verdict_text(const SearchResult& result);

// Lines that go under a found plan: proof or bound, what annealing gained, whether it would come
// out alike again.
[[nodiscard]] std::string search_text(const SearchResult& result, const SearchConduct& conduct);

// What people use today, where that is better than the plan, in a line of its own: "Better here:
// ring all-reduce, 3176.1 ms (paper), 11.2 % less; see cotillion compare". Else nothing.
[[nodiscard]] std::string best_rival_text(const Plan& plan, const std::optional<Policy>& rival);
// `name` and `staleness_ms`; `null` without a rival.
[[nodiscard]] Json best_rival_json(const std::optional<Policy>& rival, Objective objective);

// Why nothing was found, and what to do.
[[nodiscard]] std::string nothing_found_text(const SearchResult& result,
                                             const SearchConduct& conduct);

// The object `search` of a plan.
[[nodiscard]] Json search_json(const SearchResult& result, const SearchConduct& conduct);

// The search before a change to the map, what its schedule costs after it, and the search after.
struct WhatIf {
  std::vector<std::string> changes;  // "without TYO-FRA"
  SearchResult before;
  std::optional<Plan> kept;  // nothing when nothing was found before; may be infeasible
  SearchResult after;
  SearchConduct conduct;  // of both
};
[[nodiscard]] std::string whatif_text(const NetworkModel& before, const NetworkModel& after,
                                      const WhatIf& what);
[[nodiscard]] Json whatif_json(const NetworkModel& before, const NetworkModel& after,
                               const WhatIf& what);

}  // namespace cotillion
