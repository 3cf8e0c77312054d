// One exponent for each run of chunks, so that nobody sums apples and pears.
#include "protocol/grid.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cotillion {
namespace {

TEST(Grid, OneExponentServesAllChunks) {
  const Grid grid(-20);
  for (const ChunkId chunk : {0u, 1u, 0xffffffffu}) EXPECT_EQ(grid.exponent(chunk), -20);
  EXPECT_EQ(Grid().exponent(0), 0);
}

TEST(Grid, ARangeHoldsUpToTheNext) {
  const Grid grid({{0, -20}, {10, -18}, {11, 127}, {1000, -128}});
  EXPECT_EQ(grid.exponent(0), -20);
  EXPECT_EQ(grid.exponent(9), -20);
  EXPECT_EQ(grid.exponent(10), -18);
  EXPECT_EQ(grid.exponent(11), 127);
  EXPECT_EQ(grid.exponent(999), 127);
  EXPECT_EQ(grid.exponent(1000), -128);
  EXPECT_EQ(grid.exponent(kChunksMax - 1), -128);
}

TEST(GridDeathTest, RangesOutOfOrderEndTheProgram) {
  for (const auto& ranges : {std::vector<GridRange>{},
                             {{1, 5}},
                             {{0, 5}, {7, 5}, {7, 6}},
                             {{0, 5}, {8, 5}, {7, 6}},
                             {{0, 5}, {0, 6}}})
    EXPECT_DEATH(Grid{ranges}, "internal error");
}

TEST(Grid, NoSumOfValuesWithinTheLimitLeaves31Bits) {
  EXPECT_EQ(grid_limit(1), INT32_MAX);
  EXPECT_EQ(grid_limit(8), 0xfffffff);  // the golden packet's
  EXPECT_EQ(grid_limit(INT32_MAX), 1);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    std::uint32_t sum = 0;
    std::vector<std::uint32_t> weights;
    for (auto n = random.between(1, 64); n > 0; --n) {
      weights.push_back(std::uint32_t(random.between(1, 1 << random.between(0, 24))));
      sum += weights.back();
    }
    std::int64_t extreme = 0;
    for (const std::uint32_t weight : weights)
      extreme += std::int64_t(grid_limit(sum)) * std::int64_t(weight);
    EXPECT_LE(extreme, INT32_MAX);
    EXPECT_GT(extreme + sum, INT32_MAX);  // and no tighter than it must be
  }
}

}  // namespace
}  // namespace cotillion
