// Outcomes beside their plan as figures and one page.
#pragma once

#include <string>
#include <vector>

#include "job/side_by_side.hpp"
#include "report/chart.hpp"
#include "report/heat_map.hpp"
#include "report/page.hpp"
#include "report/row_chart.hpp"

namespace cotillion {

// One row a clique: when it was planned to be done and when it was, and the difference alone.
// Of very many the latest are drawn; of arrivals too.
[[nodiscard]] RowChart cliques_figure(const SideBySide& sides);
[[nodiscard]] RowChart arrivals_figure(const SideBySide& sides);
[[nodiscard]] RowChart memory_figure(const SideBySide& sides);
// What links carry in a round, and how long packets waited before them.
[[nodiscard]] RowChart lanes_figure(const SideBySide& sides);
// Ŵ by round of the plan, as one column has it.
[[nodiscard]] HeatMap mixing_figure(const SideBySide& sides, std::size_t column);
// How much longer each round took than planned, in the order played.
[[nodiscard]] Chart rounds_figure(const SideBySide& sides);

// Requires at least one. The page says what made it.
[[nodiscard]] IllustratedPage study_outcomes(const std::vector<SideBySide>& plans,
                                             const std::string& made_by);

}  // namespace cotillion
