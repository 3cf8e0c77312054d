#include "tests/support/plan/clp_oracle.hpp"

#include <cmath>
#include <vector>

#include "tests/support/plan/clp_rows.hpp"

namespace cotillion::testing {

// Columns: z, D·u, t_0 … t_{n−1}, all in milliseconds, so that all numbers are of a size CLP's
// tolerances suit.
std::optional<RealDuration> clp_price(const CliqueLatencies& latencies, const Demand& demand) {
  const int n = latencies.size();
  if (n == 1) return RealDuration{};
  const double ms = kPicosecondsPerMillisecond;
  ClpRows rows;
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
  std::vector<double> lower(n + 2, 0), cost(n + 2, 0);
  cost[0] = 1;
  lower[1] = demand.pace_least * demand.payload / ms;
  const std::optional<double> price = rows.minimum(lower, cost, 1e-9);
  if (!price) return std::nullopt;
  return RealDuration::from_ps(*price * ms);
}

}  // namespace cotillion::testing
