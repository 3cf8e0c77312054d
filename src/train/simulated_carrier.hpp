// Islands that learn, exchanging through the simulator: real packets of their real models, cut,
// sealed, summed at edges and merged by the protocol's own objects, in virtual time, with faults if
// you like.
#pragma once

#include "sim/simulation.hpp"
#include "train/carrier.hpp"
#include "train/packetised_plan.hpp"

namespace cotillion {

// For a run of so many steps by the played recipe. Refuses faults of islands: all of them must step
// together.
[[nodiscard]] Result<std::unique_ptr<Carrier>> simulated_carrier(const PacketisedPlan& played,
                                                                 const Faults& faults,
                                                                 std::int64_t steps);

}  // namespace cotillion
