// The simulated exchange for rules that look at the running model when they merge: own weights and
// momentum. Islands step within the simulation, so a merge takes the model of the last step that
// has ended when it comes, and instants that fall together are taken island by island.
#pragma once

#include "sim/simulation.hpp"
#include "train/carrier.hpp"
#include "train/played_plan.hpp"

namespace cotillion {

[[nodiscard]] std::unique_ptr<Carrier> stepwise_carrier(const PlayedPlan& played,
                                                        SimulationSettings settings);

}  // namespace cotillion
