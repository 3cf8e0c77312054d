// The clock of what happens within one machine: it never jumps. It counts from when this process
// first asked, for picoseconds since the machine started may not fit.
#pragma once

#include <ctime>

#include "base/units.hpp"

namespace cotillion {

[[nodiscard]] inline std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

[[nodiscard]] inline Instant steady_now() {
  static const std::int64_t first_ns = clock_ns(CLOCK_MONOTONIC);
  return {(clock_ns(CLOCK_MONOTONIC) - first_ns) * 1000};
}

}  // namespace cotillion
