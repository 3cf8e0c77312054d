#include "plan/clique_price.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/base/sanitized.hpp"
#include "tests/support/plan/instances.hpp"
#include "tests/support/plan/oracle_run.hpp"

namespace cotillion {
namespace {

constexpr double kMs = kPicosecondsPerMillisecond;
constexpr double kGigabyte = 1e9;
constexpr double kPaceAt20Gbps = 400;  // ps per byte

CliqueLatencies latencies_ms(std::vector<std::vector<double>> rows) {
  CliqueLatencies latencies(int(rows.size()));
  for (int i = 0; i < latencies.size(); ++i)
    for (int j = 0; j < latencies.size(); ++j) latencies.at(i, j) = std::round(rows[i][j] * kMs);
  return latencies;
}

CliqueLatencies isosceles() {
  return latencies_ms({{0, 10, 100}, {10, 0, 100}, {100, 100, 0}});
}

CliquePrice price(const CliqueLatencies& latencies, std::vector<double> memory) {
  PriceScratch scratch;
  return price_clique(latencies, {kGigabyte, kPaceAt20Gbps, std::move(memory)}, scratch);
}

TEST(CliquePrice, IsoscelesTriangleWithoutMemoryStaggersItsNearIslands) {
  const CliquePrice answer = price(isosceles(), {0, 0, 0});
  ASSERT_TRUE(answer.feasible);
  EXPECT_EQ(answer.offsets[0].ms(), 90);
  EXPECT_EQ(answer.offsets[1].ms(), 90);
  EXPECT_EQ(answer.offsets[2].ms(), 0);
  EXPECT_EQ(answer.price.ms(), 590);
}

TEST(CliquePrice, IsoscelesTriangleWithUnequalMemoriesCostsFlightAlone) {
  EXPECT_NEAR(price(isosceles(), {1e9, 1e9, 0}).price.ms(), 500, 1e-9);
  EXPECT_NEAR(price(isosceles(), {0, 0, 0}).price.ms(), 590, 1e-9);
}

TEST(CliquePrice, IsoscelesTriangleWithSomeMemoryWaitsForWhatItCannotHold) {
  // 90 ms at 2.5 GB/s are 225 MB; 25 MB of memory spare 10 ms of the wait.
  const CliquePrice answer = price(isosceles(), {25e6, 25e6, 25e6});
  EXPECT_NEAR(answer.price.ms(), 580, 1e-9);
  EXPECT_FALSE(answer.throttled);
}

TEST(CliquePrice, MemoryLargerThanThePayloadMakesThrottlingPay) {
  // Any stagger costs more than a slower stream when M > D.
  PriceScratch scratch;
  const Demand demand{1e6, kPaceAt20Gbps, {2e6, 2e6, 2e6}};
  const CliquePrice answer = price_clique(isosceles(), demand, scratch);
  EXPECT_TRUE(answer.throttled);
  EXPECT_EQ(answer.offsets[0].ps, 0);
}

TEST(CliquePrice, OneIslandIsTrivial) {
  const CliquePrice answer = price(latencies_ms({{0}}), {0});
  EXPECT_TRUE(answer.feasible);
  EXPECT_EQ(answer.price.ps, 0);
}

TEST(CliquePrice, TwoIslandsNeedNoMemoryAndNoOffsets) {
  const CliquePrice answer = price(latencies_ms({{0, 30}, {40, 0}}), {0, 0});
  ASSERT_TRUE(answer.feasible);
  EXPECT_EQ(answer.price.ms(), 440);
  EXPECT_TRUE(answer.chain.empty());
}

TEST(CliquePrice, AsymmetricTriangleWithoutMemoryIsInfeasibleByItsCycleSum) {
  // Differences round the circle add up to 3 ms: no offsets align all three.
  const auto latencies = latencies_ms({{0, 10, 20}, {10, 0, 33}, {20, 30, 0}});
  const CliquePrice answer = price(latencies, {0, 0, 0});
  EXPECT_FALSE(answer.feasible);
  EXPECT_EQ(answer.cycle.size(), 3u);
  EXPECT_EQ(answer.cycle_excess.ms(), 3);
}

TEST(CliquePrice, OnePicosecondOfAsymmetryDecidesFeasibility) {
  auto latencies = isosceles();
  EXPECT_TRUE(price(latencies, {0, 0, 0}).feasible);
  latencies.at(0, 1) += 1;
  EXPECT_FALSE(price(latencies, {0, 0, 0}).feasible);
}

TEST(CliquePrice, EdgelessMembersHoldNobodyBack) {
  const CliquePrice answer = price(isosceles(), {kUnlimited, kUnlimited, 0});
  EXPECT_EQ(answer.price.ms(), 500);
}

TEST(CliquePrice, EqualMemoriesAgreeWithTheUnequalSolver) {
  // One byte more at one edge sends the clique through the cutting planes; the price must not
  // move by more than that byte is worth.
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    testing::Instance instance = testing::instance_of_size(int(3 + seed % 9), seed);
    PriceScratch scratch;
    const CliquePrice closed = price_clique(instance.latencies, instance.demand, scratch);
    instance.demand.memory[0] += 1;
    const CliquePrice cut = price_clique(instance.latencies, instance.demand, scratch);
    EXPECT_NEAR(closed.price.ps, cut.price.ps, 1e-6 * closed.price.ps) << "seed " << seed;
  }
}

TEST(CliquePrice, MoreMemoryNeverCostsTime) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    testing::Instance instance = testing::instance_of_size(int(3 + seed % 8), seed);
    PriceScratch scratch;
    double last = std::numeric_limits<double>::infinity();
    for (double memory = 1e5; memory < 1e10; memory *= 3) {
      instance.demand.memory.assign(instance.latencies.size(), memory);
      const double now = price_clique(instance.latencies, instance.demand, scratch).price.ps;
      EXPECT_LE(now, last * (1 + 1e-12)) << "seed " << seed << " memory " << memory;
      last = now;
    }
  }
}

TEST(CliquePrice, ShapeAloneGivesTheSamePrice) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const testing::Instance instance = testing::instance_of_size(int(2 + seed % 12), seed);
    PriceScratch scratch;
    const double full = price_clique(instance.latencies, instance.demand, scratch).price.ps;
    const CliqueShape shape = shape_of(instance.latencies, {}, scratch);
    const Pace quick = best_pace(shape, instance.demand.payload, instance.demand.memory[0],
                                 instance.demand.pace_least);
    EXPECT_NEAR(quick.price_ps, full, 1e-12 * full) << "seed " << seed;
  }
}

TEST(CliquePrice, AgreesWithClpOnThousandsOfRandomCliques) {
  testing::OracleCount count;
  for (std::uint64_t seed = 1; seed <= (testing::kSanitized ? 400 : 4000); ++seed)
    ASSERT_EQ(testing::disagreement(seed, count), "");
  if (testing::kSanitized) return;
  // The mix must not have degenerated into one kind.
  EXPECT_GT(count.feasible, 1000);
  EXPECT_GT(count.infeasible, 100);
}

}  // namespace
}  // namespace cotillion
