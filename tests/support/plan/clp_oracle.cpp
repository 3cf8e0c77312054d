#include "tests/support/plan/clp_oracle.hpp"

#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <coin/CoinPackedMatrix.hpp>
#include <vector>

#include "base/check.hpp"

namespace cotillion::testing {
namespace {

// Rows of the form Σ coefficient·column ≥ least, as triplets.
class Rows {
 public:
  void add(std::initializer_list<std::pair<int, double>> terms, double least) {
    for (const auto& [column, coefficient] : terms) {
      if (coefficient == 0) continue;
      rows_.push_back(int(least_.size()));
      columns_.push_back(column);
      elements_.push_back(coefficient);
    }
    least_.push_back(least);
  }
  [[nodiscard]] CoinPackedMatrix matrix(int columns) const {
    CoinPackedMatrix matrix(true, rows_.data(), columns_.data(), elements_.data(),
                            CoinBigIndex(elements_.size()));
    matrix.setDimensions(int(least_.size()), columns);
    return matrix;
  }
  [[nodiscard]] const std::vector<double>& least() const { return least_; }

 private:
  std::vector<int> rows_, columns_;
  std::vector<double> elements_, least_;
};

}  // namespace

// Columns: z, D·u, t_0 … t_{n−1}, all in milliseconds, so that all numbers are of a size CLP's
// tolerances suit.
std::optional<RealDuration> clp_price(const CliqueLatencies& latencies, const Demand& demand) {
  const int n = latencies.size();
  if (n == 1) return RealDuration{};
  const double ms = kPicosecondsPerMillisecond;
  Rows rows;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (i == j) continue;
      const double flight = latencies.at(i, j) / ms;
      rows.add({{0, 1}, {1, -1}, {2 + j, -1}}, flight);
      if (std::isinf(demand.memory[i])) continue;
      for (int k = 0; k < n; ++k)
        if (k != i && k != j)
          rows.add({{1, demand.memory[i] / demand.payload}, {2 + j, -1}, {2 + k, 1}},
                   flight - latencies.at(i, k) / ms);
    }
  const int columns = n + 2;
  std::vector<double> lower(columns, 0), upper(columns, COIN_DBL_MAX), objective(columns, 0);
  objective[0] = 1;
  lower[1] = demand.pace_least * demand.payload / ms;
  const std::vector<double> no_limit(rows.least().size(), COIN_DBL_MAX);

  ClpSimplex model;
  model.setLogLevel(0);
  model.setPrimalTolerance(1e-9);
  model.setDualTolerance(1e-9);
  model.loadProblem(rows.matrix(columns), lower.data(), upper.data(), objective.data(),
                    rows.least().data(), no_limit.data());
  model.dual();
  if (model.status() == 1) return std::nullopt;
  COTILLION_CHECK(model.status() == 0);
  return RealDuration::from_ps(model.objectiveValue() * ms);
}

}  // namespace cotillion::testing
