// What time it is on the clock that a job shares: picoseconds since an origin that everyone was
// told, in nanoseconds of the wall clock. Picoseconds since 1970 would not fit 64 bits, and the
// wall clock is the only one that machines have in common.
#pragma once

#include <ctime>

#include "base/units.hpp"

namespace cotillion {

class RunClock {
 public:
  // Nanoseconds since 1970, as CLOCK_REALTIME counts them.
  explicit RunClock(std::int64_t origin_ns) : origin_ns_(origin_ns) {}
  [[nodiscard]] static RunClock starting_now();

  [[nodiscard]] std::int64_t origin_ns() const { return origin_ns_; }
  // Whether the origin is less than 50 days away: the Instant of now fits, and will for as long.
  [[nodiscard]] bool fits() const;
  [[nodiscard]] Instant now() const;
  // Sleeps until `spin` before the instant and watches the clock for the rest: timers wake late by
  // tens of microseconds. Never returns before the instant; kNever is no instant to wait for.
  void wait_until(Instant when, Duration spin = {0}) const;

 private:
  std::int64_t origin_ns_;
};

// What CLOCK_REALTIME shows: nanoseconds since 1970.
[[nodiscard]] std::int64_t wall_clock_now();

// Whole nanoseconds, rounded up, so that a wait of this length is never too short.
[[nodiscard]] timespec timespec_of(Duration duration);

// The kernel may delay this thread's timers by 50 µs to save power; asks it not to.
void wake_on_time();

}  // namespace cotillion
