// Random draws for the swarm, each for one purpose.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "base/units.hpp"

namespace cotillion::testing {

inline constexpr Duration kMicrosecond{1'000'000};

// Draws of one purpose do not disturb those of another.
enum class Purpose : std::uint64_t { kWorld = 1, kHarmless, kAny, kWeather, kRelaxed };

class Draw {
 public:
  Draw(std::uint64_t seed, Purpose purpose)
      : random_(Random(seed * 8 + std::uint64_t(purpose)).next()) {}
  bool chance(double probability) { return random_.unit() < probability; }
  std::int64_t pick(std::int64_t low, std::int64_t high) { return random_.between(low, high); }
  // As many below the middle of the magnitudes as above it.
  std::int64_t spread(std::int64_t low, std::int64_t high) {
    const double part = std::log(double(high) / double(low)) * random_.unit();
    return std::int64_t(double(low) * std::exp(part));
  }
  // Up to `most`, in whole microseconds.
  Duration time(Duration most) {
    return Duration{pick(0, std::max<std::int64_t>(1, most.ps / kMicrosecond.ps)) *
                    kMicrosecond.ps};
  }
  // With four digits, as it is written into a file.
  double rate(double low, double high) {
    return std::round((low + (high - low) * random_.unit()) * 1e4) / 1e4;
  }

 private:
  Random random_;
};

}  // namespace cotillion::testing
