// One exponent for each run of chunks, and how it changes without anyone summing apples and pears.
#include "protocol/grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;

std::string refusal(Grid& grid, const GridChange& change, Grid::Live live, int period = 1) {
  const auto taken = grid.announce(change, live, period);
  return taken ? "accepted" : taken.error().message;
}

TEST(Grid, OneExponentServesAllChunks) {
  const Grid grid(-20);
  for (const ChunkId chunk : {0u, 1u, 0xffffffffu}) EXPECT_EQ(grid.exponent(3, chunk), -20);
  EXPECT_EQ(Grid().exponent(0, 0), 0);
}

TEST(Grid, ARangeHoldsUpToTheNext) {
  const Grid grid({{0, -20}, {10, -18}, {11, 127}, {1000, -128}});
  EXPECT_EQ(grid.exponent(1, 0), -20);
  EXPECT_EQ(grid.exponent(1, 9), -20);
  EXPECT_EQ(grid.exponent(1, 10), -18);
  EXPECT_EQ(grid.exponent(1, 11), 127);
  EXPECT_EQ(grid.exponent(1, 999), 127);
  EXPECT_EQ(grid.exponent(1, 1000), -128);
  EXPECT_EQ(grid.exponent(1, kChunksMax - 1), -128);
}

TEST(Grid, AChangeTakesEffectAtTheNamedRoundOnly) {
  Grid grid(-20);
  EXPECT_EQ(refusal(grid, {12, {{0, -10}, {4, -8}}}, {9, 10}), "accepted");
  for (const RoundId round : {0u, 9u, 10u, 11u}) EXPECT_EQ(grid.exponent(round, 5), -20);
  for (const RoundId round : {12u, 13u, 0xffffffffu}) {
    EXPECT_EQ(grid.exponent(round, 3), -10);
    EXPECT_EQ(grid.exponent(round, 4), -8);
  }
}

TEST(Grid, AChangeMustLeaveAWholePeriod) {
  Grid grid(-20);
  EXPECT_THAT(refusal(grid, {12, {{0, -10}}}, {9, 10}, 3), HasSubstr("less than a period of 3"));
  EXPECT_EQ(grid.exponent(12, 0), -20);
  EXPECT_EQ(refusal(grid, {13, {{0, -10}}}, {9, 10}, 3), "accepted");
}

TEST(Grid, NearTheLastRoundNothingWraps) {
  Grid grid(-20);
  EXPECT_THAT(refusal(grid, {2, {{0, 1}}}, {0xfffffffe, 0xffffffff}, 3), HasSubstr("period"));
}

TEST(Grid, TheNextChangeWaitsUntilNobodyIsOnTheOldGrid) {
  Grid grid(-20);
  ASSERT_EQ(refusal(grid, {12, {{0, -10}}}, {9, 10}), "accepted");
  EXPECT_THAT(refusal(grid, {20, {{0, -5}}}, {11, 12}), HasSubstr("round 12 is still ahead"));
  EXPECT_EQ(grid.exponent(11, 0), -20);  // its packets may be under way
  EXPECT_EQ(refusal(grid, {20, {{0, -5}}}, {12, 13}), "accepted");
  EXPECT_EQ(grid.exponent(12, 0), -10);
  EXPECT_EQ(grid.exponent(19, 0), -10);
  EXPECT_EQ(grid.exponent(20, 0), -5);
}

TEST(Grid, RangesOutOfOrderAreRefused) {
  Grid grid(-20);
  for (const auto& ranges : {std::vector<GridRange>{},
                             {{1, 5}},
                             {{0, 5}, {7, 5}, {7, 6}},
                             {{0, 5}, {8, 5}, {7, 6}},
                             {{0, 5}, {0, 6}}})
    EXPECT_THAT(refusal(grid, {100, ranges}, {0, 1}), HasSubstr("follow each other"));
  EXPECT_EQ(grid.exponent(100, 0), -20);
}

TEST(GridDeathTest, AGridThatDoesNotStartAtChunkZeroEndsTheProgram) {
  EXPECT_DEATH(Grid(std::vector<GridRange>{{1, 0}}), "internal error");
}

TEST(Grid, ControlCarriesAChange) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    GridChange change{RoundId(random.next()), {}};
    ChunkId next = 0;
    for (auto n = random.between(1, 40); n > 0; --n) {
      change.ranges.push_back({next, int(random.between(-128, 127))});
      next += ChunkId(random.between(1, 1000));
    }
    Header header;
    std::vector<std::byte> payload(control_payload_bytes(change), std::byte(0xff));
    EXPECT_EQ(payload.size() % kBeatBytes, 0u);
    write_grid_change(change, header, payload);
    EXPECT_EQ(header.chunk, change.ranges.size());
    for (std::size_t i = change.ranges.size() * 8; i < payload.size(); ++i)
      ASSERT_EQ(payload[i], std::byte(0));  // zeros fill the beat
    const auto read = read_grid_change(header, payload);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->from, change.from);
    EXPECT_EQ(read->ranges, change.ranges);
  }
}

TEST(Grid, HostileCountsAreRefused) {
  const GridChange change{12, {{0, 1}, {5, 2}}};
  Header header;
  std::vector<std::byte> payload(control_payload_bytes(change));
  write_grid_change(change, header, payload);
  for (const ChunkId count : {0u, 9u, 0x20000000u, 0xffffffffu}) {
    header.chunk = count;
    EXPECT_FALSE(read_grid_change(header, payload).has_value()) << count;
  }
  header.chunk = 8;  // the padding, as ranges: out of order
  EXPECT_FALSE(read_grid_change(header, payload).has_value());
  header.chunk = 2;
  EXPECT_FALSE(read_grid_change(header, {}).has_value());
  EXPECT_TRUE(read_grid_change(header, payload).has_value());
  header.set_type(PacketType::kData);
  EXPECT_FALSE(read_grid_change(header, payload).has_value());
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
