// What fuzz targets that read rounds share: whatever is read from any bytes can be planned.
#pragma once

#include <optional>

#include "base/result.hpp"
#include "plan/plan.hpp"
#include "tests/support/base/fuzz.hpp"

namespace cotillion::testing {

// Nothing where the bytes were refused, as they should be, or rounds are too many to mix in time:
// that takes time for each phase of a period.
inline std::optional<Plan> planned(const NetworkModel& network,
                                   const Expected<Schedule, Diagnostics>& read) {
  constexpr std::size_t kRoundsMax = 64;
  if (!read) check_refusal(read.error());
  if (!read || read->rounds.size() > kRoundsMax) return std::nullopt;
  PlanSettings settings;
  settings.step_time = Duration{169'000'000'000};
  return make_plan(network, *read, settings);
}

}  // namespace cotillion::testing
