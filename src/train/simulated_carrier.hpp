// Islands that learn, exchanging through the simulator: real packets of their real models, cut,
// sealed, summed at edges and merged by the protocol's own objects, in virtual time, with faults if
// you like. The network is the plan's with all rates and sizes scaled to the model, so that every
// time is the plan's own.
#pragma once

#include "sim/simulation.hpp"
#include "train/carrier.hpp"

namespace cotillion {

// The plan for a payload of so many floats: rates, memories and sizes in proportion.
[[nodiscard]] PlanFile scaled_to(const PlanFile& plan, std::int64_t elements);

// The recipe must be the plan's own rotation. Refuses what cannot be played: unequal weights,
// faults of islands (all of them must step together), plans that Casting refuses.
[[nodiscard]] Result<std::unique_ptr<Carrier>> simulated_carrier(const PlanFile& plan,
                                                                 const Recipe& recipe,
                                                                 const Faults& faults,
                                                                 std::int64_t elements,
                                                                 std::int64_t steps);

}  // namespace cotillion
