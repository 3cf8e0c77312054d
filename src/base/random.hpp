// Seeded random numbers, the same on every machine and with every standard library, which
// <random>'s distributions are not. The generator is SplitMix64: one 64-bit word of state,
// so a seed printed by a failing test replays it.
#pragma once

#include <cstdint>

#include "base/check.hpp"

namespace cotillion {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [low, high]. The bias of the modulus is below 2^-40 for the ranges used here.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    COTILLION_CHECK(low <= high);
    const std::uint64_t span = std::uint64_t(high) - std::uint64_t(low) + 1;
    const std::uint64_t drawn = span == 0 ? next() : next() % span;
    return std::int64_t(std::uint64_t(low) + drawn);
  }

  // Uniform in [0, 1), from the upper 53 bits.
  double unit() { return double(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace cotillion
