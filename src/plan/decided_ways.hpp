// The ways of a round when they are decided: around full lanes, and longer where memory is short.
#pragma once

#include <optional>

#include "plan/round_price.hpp"

namespace cotillion {

// Ways that are worth more under the aim than the shortest, which `shortest` prices; none where
// there are none.
[[nodiscard]] std::optional<PricedRound> decided_ways(const NetworkModel& network,
                                                      const Round& round,
                                                      const PricedRound& shortest,
                                                      const RoundAim& aim);

}  // namespace cotillion
