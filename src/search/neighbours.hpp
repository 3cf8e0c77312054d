// The neighbourhood of a schedule: all schedules that are one small step away. An island moves, two
// swap, two cliques merge, or a round is left out. They show what keeps a schedule from being
// better, and that no single step improves it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "search/constraints.hpp"
#include "search/score.hpp"
#include "search/walker.hpp"

namespace cotillion {

struct Neighbour {
  enum class Kind { kMove, kSwap, kMerge, kRest, kDrop };
  Kind kind = Kind::kMove;
  std::string change;  // "LON and FRA swap cliques in round 2"
  Standing standing;
};

struct Neighbours {
  std::vector<Neighbour> best;  // one of each kind that exists, best first
  std::int64_t looked_at = 0;
  bool all = true;  // otherwise there were too many, and only some were looked at
};

// `most`: how many are looked at. Values above `value_most` times the schedule's are not reported.
[[nodiscard]] Neighbours neighbours_of(const NetworkModel& network, const Score& score,
                                       const Rules& rules, const Schedule& schedule,
                                       CliqueCache& cache, std::int64_t most,
                                       const std::function<bool()>& stop, double value_most = 3);

// Steps to the best neighbour for as long as there is a better one.
[[nodiscard]] Standing descended(const NetworkModel& network, const Score& score,
                                 const Rules& rules, Standing from, CliqueCache& cache,
                                 std::int64_t most, const std::function<bool()>& stop);

}  // namespace cotillion
