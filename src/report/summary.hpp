// Several plans that were played one after the other, one line for each: planned, simulated and
// measured, and what the emulator and the machine had to do with it.
#pragma once

#include <optional>
#include <string>

#include "job/outcome.hpp"
#include "lab/crossings.hpp"
#include "lab/wan_emulator.hpp"
#include "plan/file/plan_file.hpp"

namespace cotillion {

[[nodiscard]] std::string summary_titles();

// Of those rounds of the plan that set T, the dearest ones: the median of all times that they were
// played. Chunks that were missing are counted in all rounds and at all islands.
[[nodiscard]] std::string summary_line(const PlanFile& plan, const Outcome& simulated,
                                       const Outcome& measured, const WanCounters& counters,
                                       const Crossings& crossings, double load);

// What the emulator saw on every lane, for the outcome.
void add_lanes(const WanCounters& counters, Outcome& outcome);

// The mean time from one round to the next.
struct RoundPeriod {
  RealDuration planned;
  RealDuration measured;  // from the last sum of a round to that of the next one
};
// Nothing where no round of the plan was played twice.
[[nodiscard]] std::optional<RoundPeriod> period_of(const Plan& plan, const Outcome& outcome);
// "Rounds came every 408.1 ms, planned 408.0 ms (+0.02 %)."
[[nodiscard]] std::string period_text(const RoundPeriod& period);

}  // namespace cotillion
