// The simulated exchange for rules that look at the running model when they copy and merge: own
// weights and momentum. The network carries what islands send and brings averages; training does
// the protocol's own arithmetic on them, at the ends of the steps that the clock names.
#pragma once

#include "sim/simulation.hpp"
#include "train/carrier.hpp"
#include "train/packetised_plan.hpp"

namespace cotillion {

[[nodiscard]] std::unique_ptr<Carrier> stepwise_carrier(const PacketisedPlan& played,
                                                        SimulationSettings settings);

}  // namespace cotillion
