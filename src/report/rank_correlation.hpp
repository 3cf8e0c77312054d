// Whether one thing predicts the order of another, whatever the scales of both.
#pragma once

#include <vector>

namespace cotillion {

// Spearman's: 1 where both order things alike. Not a number where one has no order. Requires as
// many of the one as of the other.
[[nodiscard]] double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace cotillion
