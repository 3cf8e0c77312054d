// Who is ahead of whom, seed by seed: runs of one seed have first values and batches in common, so
// small differences that all seeds agree on mean more than means and spreads do.
#pragma once

#include "base/table.hpp"
#include "report/training_runs.hpp"

namespace cotillion {

struct Pairs {
  int ahead = 0;  // the first has the lower loss at the end
  int of = 0;     // seeds that both were trained with
};
[[nodiscard]] Pairs pairs_of(const Runs& runs, const Runs& others);

// A row and a column for each policy, best first; titles only where there is nothing to compare.
[[nodiscard]] Rows pair_rows(const std::vector<Runs>& policies);

}  // namespace cotillion
