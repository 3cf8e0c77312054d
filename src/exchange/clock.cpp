#include "exchange/clock.hpp"

#include <sys/prctl.h>

#include <cerrno>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

timespec timespec_of_ns(std::int64_t ns) {
  timespec time{};
  time.tv_sec = ns / kNanosecondsPerSecond;
  time.tv_nsec = ns % kNanosecondsPerSecond;
  return time;
}

std::int64_t ns_above(std::int64_t ps) {
  return ps <= 0 ? 0 : (ps - 1) / kPicosecondsPerNanosecond + 1;
}

}  // namespace

std::int64_t wall_clock_now() {
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  return wall.tv_sec * kNanosecondsPerSecond + wall.tv_nsec;
}

RunClock RunClock::starting_now() {
  return RunClock(wall_clock_now());
}

bool RunClock::fits() const {
  constexpr std::int64_t kFarthest = 50 * 86'400 * kNanosecondsPerSecond;
  const std::int64_t now = wall_clock_now();
  return origin_ns_ > now - kFarthest && origin_ns_ < now + kFarthest;
}

Instant RunClock::now() const {
  return {(wall_clock_now() - origin_ns_) * kPicosecondsPerNanosecond};
}

void RunClock::wait_until(Instant when, Duration spin) const {
  COTILLION_CHECK(when != kNever);
  if (const Instant sleep_to = when - spin; now() < sleep_to) {
    const timespec wall = timespec_of_ns(origin_ns_ + ns_above(sleep_to.ps));
    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &wall, nullptr) == EINTR) {
    }
  }
  while (now() < when) {
  }
}

timespec timespec_of(Duration duration) {
  return timespec_of_ns(ns_above(duration.ps));
}

void wake_on_time() {
  (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

}  // namespace cotillion
