// Outcomes beside their plan as tables: for a terminal, a page and programs.
#pragma once

#include <string>

#include "base/table.hpp"
#include "job/side_by_side.hpp"

namespace cotillion {

// Which files stand in which column, whether the plan holds, and Equation sumloss.
[[nodiscard]] Rows outcomes_table(const SideBySide& sides);
// planned | simulated | measured.
[[nodiscard]] Rows cliques_table(const SideBySide& sides);
[[nodiscard]] Rows arrivals_table(const SideBySide& sides);
// How slots ended and what else edges did, all of them together or each; what never happened is
// left out.
[[nodiscard]] Rows evictions_table(const SideBySide& sides);
[[nodiscard]] Rows edges_table(const SideBySide& sides);
[[nodiscard]] Rows lanes_table(const SideBySide& sides, const std::vector<const LaneRow*>& lanes);

// At most so many lanes: those with the longest queues, or those that carry most.
[[nodiscard]] std::vector<const LaneRow*> longest_queues(const SideBySide& sides, std::size_t most);
[[nodiscard]] std::vector<const LaneRow*> busiest(const SideBySide& sides, std::size_t most);

// "Nine cities: triangles, plan sha256:51bd…".
[[nodiscard]] std::string headline(const SideBySide& sides);
// What Ŵ says in a sentence or two: which islands did not average over all of their clique.
[[nodiscard]] std::string mixing_text(const SideBySide& sides);

// Cliques, and if `full` edges and links too.
[[nodiscard]] std::string side_by_side_text(const SideBySide& sides, bool full);
[[nodiscard]] Json to_json(const SideBySide& sides);

}  // namespace cotillion
