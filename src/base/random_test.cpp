#include "base/random.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

namespace cotillion {
namespace {

TEST(Random, BeginsWithThePublishedValuesOfSplitMix64) {
  Random random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random.next(), 0x06c45d188009454fu);
}

TEST(Random, TheSameSeedGivesTheSameSequence) {
  Random a(42), b(42);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(a.next(), b.next());
}

TEST(Random, NeighbouringSeedsDiffer) {
  EXPECT_NE(Random(1).next(), Random(2).next());
}

TEST(Random, BetweenReachesBothEndsAndNothingBeyond) {
  Random random(7);
  std::array<int, 6> seen{};
  for (int i = 0; i < 6000; ++i) ++seen.at(std::size_t(random.between(-2, 3) + 2));
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(Random, BetweenEqualBoundsIsThatValue) {
  EXPECT_EQ(Random(3).between(9, 9), 9);
}

TEST(Random, UnitIsAtLeastZeroBelowOneAndEvenlySpread) {
  Random random(11);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.unit();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

RC_GTEST_PROP(Random, BetweenKeepsItsBounds, (std::uint64_t seed, std::int32_t a, std::int32_t b)) {
  const std::int64_t low = std::min(a, b), high = std::max(a, b);
  const std::int64_t value = Random(seed).between(low, high);
  RC_ASSERT(value >= low && value <= high);
}

TEST(RandomDeathTest, BoundsInTheWrongOrderEndTheProgram) {
  EXPECT_DEATH((void)Random(1).between(2, 1), "internal error: low <= high does not hold");
}

}  // namespace
}  // namespace cotillion
