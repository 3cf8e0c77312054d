// Physical quantities as types, so that only physics crosses between them.
//
// Duration is an exact integer count of picoseconds: a 1,566-byte frame at 100 Gbps takes
// 125.28 ns, which nanoseconds would round at every hop, and integers let "feasible with
// no memory" be decided without an epsilon. RealDuration is a real-valued time (an offset, a
// price); it is held as a double count of picoseconds, so that a Duration converts into it
// without rounding and 564.7 ms prints as 564.7. The factor 8 between bytes and bits lives
// in this file and nowhere else.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace cotillion {

inline constexpr double kPicosecondsPerMillisecond = 1e9;
inline constexpr double kPicosecondsPerSecond = 1e12;

struct Duration {
  std::int64_t ps = 0;

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ps + b.ps}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ps - b.ps}; }
  [[nodiscard]] constexpr double ms() const { return double(ps) / kPicosecondsPerMillisecond; }
};

// A point on the one clock that a job shares, counted from wherever that clock starts. 64 bits of
// picoseconds last 106 days; the host moves the origin when a job runs longer.
struct Instant {
  std::int64_t ps = 0;

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant a, Duration b) { return {a.ps + b.ps}; }
  friend constexpr Instant operator-(Instant a, Duration b) { return {a.ps - b.ps}; }
  friend constexpr Duration operator-(Instant a, Instant b) { return {a.ps - b.ps}; }
};
inline constexpr Instant kNever{INT64_MAX};

struct RealDuration {
  double ps = 0;

  constexpr RealDuration() = default;
  constexpr RealDuration(Duration exact) : ps(double(exact.ps)) {}
  static constexpr RealDuration from_ps(double ps) {
    RealDuration time;
    time.ps = ps;
    return time;
  }

  friend constexpr auto operator<=>(RealDuration, RealDuration) = default;
  friend constexpr RealDuration operator+(RealDuration a, RealDuration b) {
    return from_ps(a.ps + b.ps);
  }
  friend constexpr RealDuration operator-(RealDuration a, RealDuration b) {
    return from_ps(a.ps - b.ps);
  }
  friend constexpr RealDuration operator*(RealDuration a, double factor) {
    return from_ps(a.ps * factor);
  }
  friend constexpr RealDuration operator*(double factor, RealDuration a) { return a * factor; }
  friend constexpr RealDuration operator/(RealDuration a, double factor) {
    return from_ps(a.ps / factor);
  }
  friend constexpr double operator/(RealDuration a, RealDuration b) { return a.ps / b.ps; }
  [[nodiscard]] constexpr double ms() const { return ps / kPicosecondsPerMillisecond; }
  [[nodiscard]] constexpr double seconds() const { return ps / kPicosecondsPerSecond; }
};
[[nodiscard]] Duration rounded(RealDuration time);  // to the nearest picosecond

struct Bytes {
  std::int64_t count = 0;

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  friend constexpr Bytes operator*(std::int64_t factor, Bytes a) { return {factor * a.count}; }
  friend constexpr Bytes operator/(Bytes a, std::int64_t divisor) { return {a.count / divisor}; }
};

struct BitsPerSecond {
  double value = 0;

  friend constexpr auto operator<=>(BitsPerSecond, BitsPerSecond) = default;
  friend constexpr BitsPerSecond operator*(BitsPerSecond rate, double factor) {
    return {rate.value * factor};
  }
  friend constexpr BitsPerSecond operator/(BitsPerSecond rate, double divisor) {
    return {rate.value / divisor};
  }
  [[nodiscard]] constexpr double gbps() const { return value / 1e9; }
};

// The pace of a stream, the u = 1/b of the paper's linear program.
[[nodiscard]] constexpr double ps_per_byte(BitsPerSecond rate) {
  return 8 * kPicosecondsPerSecond / rate.value;
}
[[nodiscard]] constexpr BitsPerSecond rate_of_pace(double ps_per_byte) {
  return {8 * kPicosecondsPerSecond / ps_per_byte};
}
[[nodiscard]] constexpr RealDuration transfer_time(Bytes bytes, BitsPerSecond rate) {
  return RealDuration::from_ps(double(bytes.count) * ps_per_byte(rate));
}
[[nodiscard]] constexpr double bytes_per_second(BitsPerSecond rate) {
  return rate.value / 8;
}

// For people: three or four significant digits and a unit, "564.7 ms", "14.29 Gbps", "32 GB".
[[nodiscard]] std::string to_text(Duration duration);
// How long somebody was waited for: "30 s", "1.5 s", "3.0 ms".
[[nodiscard]] std::string wait_text(Duration wait);
[[nodiscard]] std::string to_text(RealDuration time);
[[nodiscard]] std::string to_text(Bytes bytes);
[[nodiscard]] std::string to_text(BitsPerSecond rate);

}  // namespace cotillion
