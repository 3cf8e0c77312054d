#include "lab/error_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {
constexpr std::int64_t kPicosecondsPerNanosecond = 1000;
}  // namespace

// The first octaves are as fine as a nanosecond: a bucket for each.
std::size_t ErrorHistogram::bucket_of(std::uint64_t ns) {
  if (ns < kParts) return std::size_t(ns);
  const int octave = int(std::bit_width(ns)) - 1 - kPartBits;  // 0: from kParts on
  const std::size_t bucket = std::size_t(octave) * kParts + std::size_t(ns >> octave);
  return std::min(bucket, std::size_t(kParts) * kOctaves - 1);
}

std::uint64_t ErrorHistogram::middle_of(std::size_t bucket) {
  if (bucket < 2 * kParts) return bucket;
  const std::size_t octave = bucket / kParts - 1;
  const std::uint64_t low = std::uint64_t(bucket - octave * kParts) << octave;
  return low + ((std::uint64_t(1) << octave) / 2);
}

void ErrorHistogram::add(Duration late) {
  late = std::max(late, Duration{0});
  ++buckets_[bucket_of(std::uint64_t(late.ps / kPicosecondsPerNanosecond))];
  ++count_;
  sum_ps_ += double(late.ps);
  max_ = std::max(max_, late);
}

void ErrorHistogram::add(const ErrorHistogram& other) {
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket)
    buckets_[bucket] += other.buckets_[bucket];
  count_ += other.count_;
  sum_ps_ += other.sum_ps_;
  max_ = std::max(max_, other.max_);
}

Duration ErrorHistogram::mean() const {
  return {count_ == 0 ? 0 : std::llround(sum_ps_ / double(count_))};
}

Duration ErrorHistogram::quantile(double share) const {
  COTILLION_CHECK(share >= 0 && share <= 1);
  if (count_ == 0) return {0};
  const auto wanted = std::max<std::uint64_t>(1, std::uint64_t(std::ceil(share * double(count_))));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= wanted)
      return std::min(max_, Duration{std::int64_t(middle_of(bucket)) * kPicosecondsPerNanosecond});
  }
  COTILLION_CHECK(false);  // the buckets hold what was counted
}

}  // namespace cotillion
