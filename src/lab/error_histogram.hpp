// How late things were, packet by packet, without keeping every packet: counts in buckets that are
// a thirty-second of their own lateness wide, so that percentiles are within about 3 %.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.hpp"

namespace cotillion {

class ErrorHistogram {
 public:
  // What is early counts as on time.
  void add(Duration late);
  void add(const ErrorHistogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] Duration mean() const;
  // The lateness that this share of all does not exceed; zero when there are none.
  [[nodiscard]] Duration quantile(double share) const;
  [[nodiscard]] Duration max() const { return max_; }

 private:
  static constexpr int kParts = 32;    // buckets to an octave
  static constexpr int kOctaves = 36;  // of nanoseconds: up to a minute
  static constexpr int kPartBits = 5;
  static_assert(1 << kPartBits == kParts);
  static std::size_t bucket_of(std::uint64_t ns);
  static std::uint64_t middle_of(std::size_t bucket);  // nanoseconds

  std::array<std::uint64_t, std::size_t(kParts) * kOctaves> buckets_{};
  std::uint64_t count_ = 0;
  double sum_ps_ = 0;
  Duration max_{0};
};

}  // namespace cotillion
