#include "tests/support/plan/clp_rows.hpp"

#include <coin/ClpSimplex.hpp>
#include <coin/CoinPackedMatrix.hpp>

#include "base/check.hpp"

namespace cotillion::testing {

void ClpRows::add(std::initializer_list<std::pair<int, double>> terms, double least) {
  for (const auto& [column, coefficient] : terms) {
    if (coefficient == 0) continue;
    rows_.push_back(int(least_.size()));
    columns_.push_back(column);
    elements_.push_back(coefficient);
  }
  least_.push_back(least);
}

std::optional<double> ClpRows::minimum(const std::vector<double>& lower,
                                       const std::vector<double>& cost, double tolerance) const {
  const int columns = int(lower.size());
  CoinPackedMatrix matrix(true, rows_.data(), columns_.data(), elements_.data(),
                          CoinBigIndex(elements_.size()));
  matrix.setDimensions(int(least_.size()), columns);
  const std::vector<double> upper(lower.size(), COIN_DBL_MAX);
  const std::vector<double> no_limit(least_.size(), COIN_DBL_MAX);
  ClpSimplex model;
  model.setLogLevel(0);
  model.setPrimalTolerance(tolerance);
  model.setDualTolerance(tolerance);
  model.loadProblem(matrix, lower.data(), upper.data(), cost.data(), least_.data(),
                    no_limit.data());
  model.dual();
  if (model.status() == 1) return std::nullopt;
  COTILLION_CHECK(model.status() == 0);
  return model.objectiveValue();
}

}  // namespace cotillion::testing
