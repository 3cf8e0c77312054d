#include "plan/event_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "tests/support/plan/clp_rows.hpp"

namespace cotillion {
namespace {

constexpr Ticks kOne = kTicksPerPicosecond;

TEST(EventGraph, ACycleOfArcsSetsThePeriod) {
  EventGraph graph(2);
  graph.add_arc(0, 1, 30 * kOne);
  graph.add_arc(1, 0, 12 * kOne, 1);
  const auto answer = graph.cheapest(1, 1);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(ps_of(answer->least.period), 42);
  EXPECT_EQ(ps_of(answer->least.delay), 0);
  EXPECT_EQ(ps_of(answer->times[0]), 0);
  EXPECT_EQ(ps_of(answer->times[1]), 30);
}

TEST(EventGraph, APositiveCycleInsideAPeriodCannotBeHelped) {
  EventGraph graph(2);
  graph.add_arc(0, 1, 30 * kOne);
  graph.add_arc(1, 0, -30 * kOne);
  EXPECT_TRUE(graph.cheapest(1, 1).has_value());
  graph.add_arc(1, 0, -30 * kOne + 1);
  EXPECT_FALSE(graph.cheapest(1, 1).has_value());
}

TEST(EventGraph, PeriodAndDelayAreTradedByTheirCosts) {
  // Λ + d ≥ 100, 3Λ + d ≥ 120, Λ ≥ 5.
  EventGraph graph(3);
  graph.add_arc(0, 0, 100 * kOne, 1, 1);
  graph.add_arc(1, 1, 120 * kOne, 3, 1);
  graph.add_arc(2, 2, 5 * kOne, 1);
  const auto dear_delay = graph.cheapest(0.5, 1);
  EXPECT_EQ(ps_of(dear_delay->least.period), 100);
  EXPECT_EQ(ps_of(dear_delay->least.delay), 0);
  const auto even = graph.cheapest(2, 1);
  EXPECT_EQ(ps_of(even->least.period), 10);
  EXPECT_EQ(ps_of(even->least.delay), 90);
  const auto dear_period = graph.cheapest(4, 1);
  EXPECT_EQ(ps_of(dear_period->least.period), 5);
  EXPECT_EQ(ps_of(dear_period->least.delay), 105);
}

TEST(EventGraph, CheapestPointsAgreeWithClpAndSatisfyEveryRowExactly) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    std::vector<CycleRow> rows;
    testing::ClpRows program;
    for (std::int64_t r = random.between(1, 12); r > 0; --r) {
      CycleRow row{Ticks(random.between(-1'000'000, 9'000'000)), int(random.between(0, 4)),
                   int(random.between(0, 4))};
      if (row.periods + row.delays == 0) row.periods = 1;
      rows.push_back(row);
      program.add({{0, double(row.periods)}, {1, double(row.delays)}}, ps_of(row.weight));
    }
    const double cost_period = 0.1 + 5 * random.unit(), cost_delay = 0.1 + 5 * random.unit();
    const PeriodAndDelay point = cheapest_point(rows, cost_period, cost_delay);
    for (const CycleRow& row : rows)
      ASSERT_GE(std::int64_t(row.periods * point.period + row.delays * point.delay - row.weight), 0)
          << "seed " << seed;
    ASSERT_GE(std::int64_t(std::min(point.period, point.delay)), 0) << "seed " << seed;
    const double value = cost_period * ps_of(point.period) + cost_delay * ps_of(point.delay);
    const auto least = program.minimum({0, 0}, {cost_period, cost_delay}, 1e-10);
    ASSERT_TRUE(least.has_value()) << "seed " << seed;
    // Ours are whole ticks, a thousandth of a picosecond each.
    ASSERT_NEAR(value, *least, 0.05) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cotillion
