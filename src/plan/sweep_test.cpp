#include "plan/sweep.hpp"

#include <gtest/gtest.h>

#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

std::vector<KnobSetting> memories(std::initializer_list<double> bytes) {
  std::vector<KnobSetting> settings;
  for (const double value : bytes)
    settings.push_back({to_text(Bytes{std::int64_t(value)}), value, {}});
  return settings;
}

TEST(Sweep, TheWinnerChangesWhereMemoryMakesTheAllToAllPay) {
  const Sweep result = sweep(testing::example_map("nine-cities"), {}, {}, Knob::kMemory,
                             memories({0, 1e7, 1e8, 2e8, 1e9}));
  ASSERT_EQ(result.points.size(), 5u);
  ASSERT_GE(result.winners.size(), 2u);
  EXPECT_EQ(result.winners.front().point, 0u);
  EXPECT_EQ(result.winners.back().winner, "all-to-all");
}

TEST(Sweep, MoreMemoryNeverMakesThePaperScoreWorse) {
  const Sweep result = sweep(testing::example_map("nine-cities"), {}, {}, Knob::kMemory,
                             memories({0, 1e6, 1e7, 5e7, 1e8, 2e8, 1e9}));
  double last = 1e300;
  for (const SweepPoint& point : result.points) {
    const double best = point.policies.front().objective(Objective::kPaper).ps;
    EXPECT_LE(best, last);
    last = best;
  }
}

TEST(Sweep, EachKnobTurnsWhatItNames) {
  Map map = testing::example_map("nine-cities");
  NetworkModelSettings network;
  PlanSettings plan;
  turn(Knob::kAccess, {"", 4e10, {}}, map, network, plan);
  EXPECT_EQ(map.islands[3].down.gbps(), 40);
  turn(Knob::kRate, {"", 4e11, {}}, map, network, plan);
  EXPECT_EQ(map.links[5].rate[1].gbps(), 400);
  turn(Knob::kPayload, {"", 5e8, {}}, map, network, plan);
  EXPECT_EQ(map.payload.count, 500'000'000);
  turn(Knob::kStepTime, {"", 20, {}}, map, network, plan);
  EXPECT_EQ(plan.step_time.ms(), 20);
  turn(Knob::kTechnology, {"", 0, {false, true}}, map, network, plan);
  EXPECT_FALSE(network.technology.multicast);
  turn(Knob::kMemory, {"", 5, {}}, map, network, plan);
  EXPECT_EQ(map.aggregators[2].spec.memory.count, 5);
}

}  // namespace
}  // namespace cotillion
