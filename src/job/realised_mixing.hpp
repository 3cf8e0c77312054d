// What the mixing matrices of the rounds that were really played did to generations: the paper's
// Equation sumloss over them, and the two parts of it that losses tell apart. When contributions
// are missing on one side only, columns of Ŵ no longer sum to one, and the mean of the islands
// drifts away from the mean of what they learned; averaging among them cannot mend that.
#pragma once

#include <vector>

namespace cotillion {

struct RealisedLoss {
  double total = 0;         // Σ_k Σ_h e_k(h)
  double disagreement = 0;  // the same of Φ − 1·mᵀ, m being the mean row of Φ
  double drift = 0;         // the same of 1·(m − 1/N)ᵀ
};

// `rounds` are N × N matrices, row by row, in the order played.
[[nodiscard]] RealisedLoss realised_loss(const std::vector<std::vector<double>>& rounds,
                                         int islands);

}  // namespace cotillion
