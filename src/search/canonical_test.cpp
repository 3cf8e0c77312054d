#include "search/canonical.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plan/mixing.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::random_schedule;

TEST(Canonical, AllRotationsAndTheReverseAreOneDance) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const int n = 2 + int(seed % 7), period = 1 + int(seed / 7 % 6);
    std::vector<Round> turned = random_schedule(n, period, seed).rounds;
    const std::vector<Round> expected = canonical(turned);
    ASSERT_EQ(canonical(expected), expected) << "seed " << seed;
    for (int way = 0; way < 2; ++way) {
      for (int k = 0; k < period; ++k) {
        std::rotate(turned.begin(), turned.begin() + 1, turned.end());
        ASSERT_EQ(canonical(turned), expected) << "seed " << seed << ", turned by " << k + 1;
        ASSERT_FALSE(precedes(turned, expected)) << "seed " << seed;
      }
      std::reverse(turned.begin(), turned.end());
    }
    ASSERT_TRUE(std::is_permutation(expected.begin(), expected.end(), turned.begin()));
  }
}

TEST(Canonical, TheSameDanceMixesAlike) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const int n = 2 + int(seed % 9);
    Schedule schedule = random_schedule(n, 2 + int(seed % 5), seed);
    const Mixing before = mix(schedule, n);
    schedule.rounds = canonical(schedule.rounds);
    const Mixing after = mix(schedule, n);
    if (std::isinf(before.area)) {
      ASSERT_TRUE(std::isinf(after.area)) << "seed " << seed;
      continue;
    }
    ASSERT_NEAR(after.area, before.area, 1e-10 * before.area) << "seed " << seed;
    ASSERT_NEAR(after.area_squared, before.area_squared, 1e-10 * before.area_squared)
        << "seed " << seed;
  }
}

TEST(Canonical, ShorterPeriodsComeFirstAndOrderIsStrict) {
  std::vector<std::vector<Round>> all;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    all.push_back(random_schedule(3, 1 + int(seed % 3), seed).rounds);
  for (const auto& a : all)
    for (const auto& b : all) {
      if (a.size() < b.size()) {
        ASSERT_TRUE(precedes(a, b));
      }
      ASSERT_EQ(precedes(a, b) || precedes(b, a), a != b);
      ASSERT_FALSE(precedes(a, b) && precedes(b, a));
      for (const auto& c : all)
        if (precedes(a, b) && precedes(b, c)) {
          ASSERT_TRUE(precedes(a, c));
        }
    }
}

}  // namespace
}  // namespace cotillion
