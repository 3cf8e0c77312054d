// Rounds that overlap: the next begins while the last bytes of this one fly. The times of copies
// and sums come from the periodic event graph (timing.hpp); lanes then carry two rounds, and where
// they cannot, streams are slowed until they can.
//
// A streamed objective merges fragments as they arrive. A whole one has one fragment: everything is
// copied, and merged, at once, but nobody waits for the others' rounds to end.
#pragma once

#include <optional>

#include "plan/plan.hpp"
#include "plan/round_price.hpp"

namespace cotillion {

// F of the objective: settings.fragments where it is streamed, 1 where it is whole.
[[nodiscard]] int overlap_fragments(const PlanSettings& settings);

// The plan of a schedule on given ways, at the paces at which they are priced, with overlapping
// times. None where memory or lanes cannot hold two rounds, or where rounds last whole steps.
[[nodiscard]] std::optional<Plan> overlap(const NetworkModel& network, const Schedule& schedule,
                                          const PlanSettings& settings, const Mixing& mixing,
                                          std::vector<PricedRound> rounds);

}  // namespace cotillion
