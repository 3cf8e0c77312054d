// Detours that restore symmetry where memory is short: fibre holds the bytes that an edge cannot.
//
// A clique waits when two of its members are near each other and a third is far: the near ones must
// not run ahead. If the near ones take a longer way, there and back, they arrive together with the
// far one and nobody waits. For three members every combination of simple paths is tried, in order
// of length; for more, one pair at a time gets another path for as long as that makes the round
// cheaper. Trees stay trees: a sender enters every place by one lane.
#pragma once

#include <optional>

#include "plan/reroute.hpp"

namespace cotillion {

// Better ways than those of `from`, for the cliques that memory makes wait; none where there are
// none, where nobody waits, or where streams for a member meet away from it.
[[nodiscard]] std::optional<Rerouted> detour(const NetworkModel& network, const Round& round,
                                             const PricedRound& from, const RoundAim& aim);

}  // namespace cotillion
