// Rounds that overlap, as a linear program for CLP: every constraint as printed in plan/timing,
// with nothing of what plan/event_graph knows about cycles. And random problems for both.
#pragma once

#include <optional>
#include <string>

#include "plan/timing.hpp"

namespace cotillion::testing {

// Two to six islands in one to four rounds; latencies of both ways, paces, memories from none to
// unlimited, fragments from 1 to 64. Every choice follows from the seed.
[[nodiscard]] TimingProblem random_timing_problem(std::uint64_t seed);

// (Λ/P)(A − ½) + d in picoseconds.
[[nodiscard]] double value_of(const TimingProblem& problem, const Timing& timing);

// The least of it, or nothing when CLP proves that no times exist.
[[nodiscard]] std::optional<double> clp_timing(const TimingProblem& problem);

// "" when every constraint holds for these times; else what does not.
[[nodiscard]] std::string broken_constraint(const TimingProblem& problem, const Timing& timing);

}  // namespace cotillion::testing
