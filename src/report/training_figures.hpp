// Trainings as charts: what the page shows beside its tables.
#pragma once

#include "report/chart.hpp"
#include "report/training_runs.hpp"

namespace cotillion {

[[nodiscard]] Chart loss_chart(const std::vector<Runs>& policies, bool against_tokens);
// The second half of the clock, of those policies that are near the best by then; without series
// where fewer than two are.
[[nodiscard]] Chart late_loss_chart(const std::vector<Runs>& policies);
// Without series where islands were looked at only once.
[[nodiscard]] Chart island_chart(const Training& training);
[[nodiscard]] Chart distance_chart(const std::vector<Runs>& policies);
// Without series where all have the same staleness, or only one has any.
[[nodiscard]] Chart prediction_chart(const std::vector<Runs>& policies);

}  // namespace cotillion
