// Ways around lanes that too many streams share.
//
// Legend: u pace (time per byte) of the slowest stream, C_e rate of lane e, n_e streams on it. All
// streams keep pace u exactly when n_e ≤ ⌊C_e·u⌋ on every lane. Of the paces that matter (k/C_e)
// each is tried, fastest first: streams are taken off overfull lanes, one at a time, the one that
// then flies the least way longer; then, within a budget, every other choice of who gives way is
// tried as well. Forbidding lanes to senders, each of whom takes its shortest tree without them,
// reaches every tree there is, and flights only grow with what is forbidden: a branch is left as
// soon as its flights alone make it too dear. Where the budget lasts, the answer is proven.
#pragma once

#include <optional>

#include "plan/round_price.hpp"

namespace cotillion {

struct Rerouted {
  PricedRound round;
  double value = 0;     // under the aim
  bool proven = false;  // no other trees are better, as far as flights and paces decide
};

// The best ways that were found, if better than the shortest, which `shortest` prices.
[[nodiscard]] std::optional<Rerouted> reroute(const NetworkModel& network, const Round& round,
                                              const PricedRound& shortest, const RoundAim& aim);

}  // namespace cotillion
