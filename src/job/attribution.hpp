// What of an outcome is nobody's fault: the time that whole packets spend on every link of their
// way, which plans of fluid streams leave out, and how late senders and an emulator of links were,
// with the slots that edges hold open meanwhile. Reports put it beside what was seen.
#pragma once

#include "job/outcome.hpp"
#include "plan/file/plan_loader.hpp"

namespace cotillion {

// Fills in Clique-, Edge- and LaneOutcome what follows from the plan, the lateness of lanes and
// that of senders. The outcome must have a sender for every island.
void attribute(const PlanFile& plan, Outcome& outcome);

}  // namespace cotillion
