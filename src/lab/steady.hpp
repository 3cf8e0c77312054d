// The clock of what happens within one machine: it never jumps.
#pragma once

#include <ctime>

#include "base/units.hpp"

namespace cotillion {

[[nodiscard]] inline Instant clock_instant(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return {(std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec) * 1000};
}

[[nodiscard]] inline Instant steady_now() {
  return clock_instant(CLOCK_MONOTONIC);
}

}  // namespace cotillion
