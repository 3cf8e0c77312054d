// Completes the outcome of a run. A run hands over what it saw, and this adds what the plan says of
// it: planned bytes, lanes that should have carried something, the loss that was planned
// and what whole packets and lateness explain. Whoever makes an outcome calls this when the run
// ends; whoever writes or draws one adds nothing.
#pragma once

#include "job/outcome.hpp"
#include "plan/file/plan_loader.hpp"

namespace cotillion {

// Requires that rounds are counted from 1. Completing an outcome again changes nothing, unless more
// was seen meanwhile.
[[nodiscard]] Outcome complete_outcome(const PlanFile& plan, Outcome seen);

// A round as the plan has it, of which nothing has been seen yet.
[[nodiscard]] RoundOutcome planned_round(const PlanFile& plan, RoundId round);

// By island: what the first rounds of the plan, so many of them, need of its edge.
[[nodiscard]] IdVector<IslandId, EdgeOutcome> planned_edges(const PlanFile& plan,
                                                            std::size_t rounds);

// When the last chunk of a stream should reach the edge, not the island behind it, from the round's
// start.
[[nodiscard]] Duration due_at_edge(const PlanFile& plan, const Stream& stream,
                                   const Arrival& arrival);

}  // namespace cotillion
