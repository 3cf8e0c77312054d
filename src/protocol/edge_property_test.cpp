// One edge under whatever a network can do to it. The checker knows what must come of it.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/base/seeds.hpp"
#include "tests/support/protocol/edge_driver.hpp"

namespace cotillion {
namespace {

using testing::EdgeChecker;
using testing::EdgeDriver;

TEST(EdgeProperty, WhatMustAlwaysHoldHolds) {
  std::uint64_t packets = 0, outputs = 0;
  std::array<std::uint64_t, kEdgeCounts> counts{};
  for (const std::uint64_t seed : testing::seeds_to_try(4000)) {
    EdgeDriver driver(seed);
    const EdgeChecker& checker = driver.run();
    ASSERT_EQ(checker.wrong(), "") << "\n  " << testing::replay_command(seed);
    packets += checker.packets();
    outputs += checker.outputs();
    for (std::size_t i = 0; i < kEdgeCounts; ++i) counts[i] += checker.counted(EdgeCount(i));
  }
  std::printf("%lu packets in, %lu out\n", packets, outputs);
  // Nothing in the rule was left out, unless only one seed was asked for.
  counts[std::size_t(EdgeCount::kRepairsAsked)] = 1;  // which nothing adds to
  for (std::size_t i = 0; i < kEdgeCounts && std::getenv("COTILLION_SEED") == nullptr; ++i)
    EXPECT_GT(counts[i], 0u) << name_of(EdgeCount(i));
}

}  // namespace
}  // namespace cotillion
