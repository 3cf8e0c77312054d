// One run of the planner against CLP over seeded random cliques. A mismatch is described in
// words that end with the command that replays it.
#pragma once

#include <cstdint>
#include <string>

namespace cotillion::testing {

struct OracleCount {
  std::int64_t feasible = 0;
  std::int64_t infeasible = 0;
  double worst_relative_gap = 0;
};

// "" when planner and CLP agree on the instance of this seed and every constraint holds.
[[nodiscard]] std::string disagreement(std::uint64_t seed, OracleCount& count);

}  // namespace cotillion::testing
