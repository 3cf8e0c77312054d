// Trainings side by side: a table, charts and a page. Runs that differ only in their seed are one
// line, with the spread.
#pragma once

#include <string>
#include <vector>

#include "report/chart.hpp"
#include "report/page.hpp"
#include "train/trainer.hpp"

namespace cotillion {

// With rank correlations of what predicts loss, where enough policies have a prediction.
[[nodiscard]] std::string training_text(const std::vector<Training>& trainings);

// Loss against the clock, closely where policies are near each other, and against tokens, of each
// island, disagreement against the clock and against what the plan predicts. Figures of several
// settings are apart, as tables are, and their names say which: "loss-against-time-text-by-source".
[[nodiscard]] IllustratedPage training_page(const std::vector<Training>& trainings,
                                            const std::string& made_by);

// Staleness with the delays that steps really impose in place of the planned one; nothing where the
// policy has no prediction.
struct MeasuredStaleness {
  double paper = 0;  // ms
  double squared = 0;
};
[[nodiscard]] std::optional<MeasuredStaleness> measured_staleness(const Training& training);

}  // namespace cotillion
