// What the planner minimises. One definition for every verb: the planner scores plans with
// it, the search optimises it, the simulator recomputes it from what it saw.
//
//   paper             T(A + ½)        Equation objective
//   squared           T(A₂ + ½)       increments that add in quadrature
//   paper-streamed    T(A − ½) + d    fragments merged as they arrive, after a delay d
//   squared-streamed  T(A₂ − ½) + d
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "plan/mixing.hpp"

namespace cotillion {

enum class Objective { kPaper, kSquared, kPaperStreamed, kSquaredStreamed };
inline constexpr std::array kObjectives = {Objective::kPaper, Objective::kSquared,
                                           Objective::kPaperStreamed, Objective::kSquaredStreamed};

[[nodiscard]] std::string_view to_name(Objective objective);
[[nodiscard]] std::optional<Objective> objective_named(std::string_view name);

// Staleness of rounds of the given lengths (one period), duration-weighted: a generation born
// in round p weighs as much as the round is long, is half that old at its end, and is then
// held through the rounds that follow. With equal lengths T it is T(A + ½). `streamed_delay`
// is d: the time from a fragment's snapshot to its merge; in the streamed forms it replaces
// the round through which a new generation would wait whole, and what one round left is held
// until the next one's merge, from d after its start to d after the next one's. Infinite when
// islands never connect.
[[nodiscard]] RealDuration staleness(Objective objective, const Mixing& mixing,
                                     const std::vector<RealDuration>& lengths,
                                     RealDuration streamed_delay);

// The same with a delay d of each round.
[[nodiscard]] RealDuration staleness(Objective objective, const Mixing& mixing,
                                     const std::vector<RealDuration>& lengths,
                                     const std::vector<RealDuration>& streamed_delays);

// The same for rounds of one length, when the area is known.
[[nodiscard]] RealDuration staleness_of_equal_rounds(Objective objective, RealDuration length,
                                                     double area, RealDuration streamed_delay);

}  // namespace cotillion
