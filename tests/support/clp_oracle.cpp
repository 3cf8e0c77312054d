#include "tests/support/clp_oracle.hpp"

#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <coin/CoinBuild.hpp>

#include "base/check.hpp"

namespace cotillion::testing {

// Columns: z, u, t_0 … t_{n−1}. Times in milliseconds and u scaled by the payload (D·u in
// milliseconds), so that all numbers are of a size CLP's tolerances suit.
std::optional<Seconds> clp_price(const CliqueLatencies& latencies, const Demand& demand) {
  const int n = latencies.size();
  if (n == 1) return Seconds{};
  const double ms = kPicosecondsPerMillisecond;
  ClpSimplex model;
  model.setLogLevel(0);
  model.resize(0, n + 2);
  for (int column = 0; column < n + 2; ++column) {
    model.setColumnLower(column, 0);
    model.setColumnUpper(column, COIN_DBL_MAX);
    model.setObjectiveCoefficient(column, column == 0 ? 1 : 0);
  }
  model.setColumnLower(1, demand.pace_least * demand.payload / ms);
  model.setPrimalTolerance(1e-9);
  model.setDualTolerance(1e-9);

  CoinBuild rows;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (i == j) continue;
      const double flight = latencies.at(i, j) / ms;
      const int completion_columns[] = {0, 1, 2 + j};
      const double completion[] = {1, -1, -1};
      rows.addRow(3, completion_columns, completion, flight, COIN_DBL_MAX);
      if (std::isinf(demand.memory[i])) continue;
      for (int k = 0; k < n; ++k) {
        if (k == i || k == j) continue;
        const int memory_columns[] = {1, 2 + j, 2 + k};
        const double memory[] = {demand.memory[i] / demand.payload, -1, 1};
        rows.addRow(3, memory_columns, memory, flight - latencies.at(i, k) / ms, COIN_DBL_MAX);
      }
    }
  model.addRows(rows);
  model.dual();
  if (model.status() == 1) return std::nullopt;
  COTILLION_CHECK(model.status() == 0);
  return Seconds::from_ps(model.objectiveValue() * ms);
}

}  // namespace cotillion::testing
