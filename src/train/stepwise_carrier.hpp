// The simulated exchange for rules that look at the running model when they merge: own weights and
// momentum. Islands step within the simulation, so a merge takes the model of the last step that
// has ended when it comes, and instants that fall together are taken island by island.
#pragma once

#include "sim/simulation.hpp"
#include "train/carrier.hpp"

namespace cotillion {

[[nodiscard]] std::unique_ptr<Carrier> stepwise_carrier(PlanFile plan, const Recipe& recipe,
                                                        SimulationSettings settings);

}  // namespace cotillion
