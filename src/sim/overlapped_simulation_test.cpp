// Relaxed plans of the nine cities, played in virtual time.
#include <gtest/gtest.h>

#include "plan/replay.hpp"
#include "sim/simulation.hpp"
#include "tests/support/base/sanitized.hpp"
#include "tests/support/job/as_planned.hpp"
#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

using testing::expect_as_planned;
using testing::relaxed_nine_city_plan;

constexpr Bytes kSomeMemory{100'000'000}, kMuchMemory{32'000'000'000};

SimulationSettings streamed(const PlanFile& plan, int periods) {
  SimulationSettings settings;
  settings.rounds = periods * int(plan.plan.rounds.size());
  settings.islands.job_settings.exchange = Exchange::kStreamed;
  settings.islands.job_settings.fragments = 64;
  return settings;
}

class RelaxedNineCities
    : public ::testing::TestWithParam<std::tuple<std::string, std::string, Bytes>> {};

TEST_P(RelaxedNineCities, ArePlayedAsPlanned) {
  const auto& [schedule, relax, memory] = GetParam();
  const PlanFile plan = relaxed_nine_city_plan(schedule, relax, memory);
  const SimulationSettings settings = streamed(plan, 3);
  if (!plan.plan.feasible) {
    EXPECT_FALSE(simulate(plan, settings).has_value());
    return;
  }
  const auto outcome = simulate(plan, settings);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  expect_as_planned(plan, *outcome);
  for (const ReceiverCounters& receiver : outcome->receivers)
    EXPECT_EQ(receiver[ReceiverCount::kUnmerged], 0u);
  for (const SenderCounters& sender : outcome->senders) EXPECT_EQ(sender.slipped_ps, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, RelaxedNineCities,
    ::testing::Combine(::testing::Values("triangles", "pairs", "regional", "all-to-all"),
                       ::testing::Values("lengths", "overlap", "routes", "all"),
                       ::testing::Values(Bytes{0}, kSomeMemory, kMuchMemory)),
    [](const auto& which) {
      std::string name = std::get<0>(which.param) + "_" + std::get<1>(which.param);
      std::erase(name, '-');
      return name + "_" + std::to_string(std::get<2>(which.param).count / 1'000'000) + "MB";
    });

TEST(OverlappedSimulation, TakesAsLongAsThePlanSays) {
  const PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kMuchMemory);
  const auto outcome = simulate(plan, streamed(plan, 10));
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->added_slack, Duration{0});
  EXPECT_LT(plan.plan.mean_length().ms(), 401);
  EXPECT_LT(outcome->played.ms(), 9 * 400.0 + plan.plan.round.ms() + 10);
}

// A merge is later than planned by what whole packets add on the way. (Others spread too slowly for
// so few rounds.)
TEST(OverlappedSimulation, ItsStalenessIsThatOfThePlan) {
  for (const char* schedule : {"triangles", "all-to-all"})
    for (const Bytes memory : {kSomeMemory, kMuchMemory}) {
      if (testing::kSanitized && memory == kSomeMemory) continue;
      const PlanFile plan = relaxed_nine_city_plan(schedule, "all", memory);
      const auto outcome = simulate(plan, streamed(plan, 12));
      ASSERT_TRUE(outcome.has_value());
      ASSERT_TRUE(outcome->exact.has_value()) << schedule;
      const double planned =
          exact_staleness(plan.map.island_count(), plan.plan)[int(Objective::kPaperStreamed)].ms();
      EXPECT_NEAR(outcome->exact->absolute.ms(), planned, 0.5) << schedule << memory.count;
    }
}

// 4 ms are more than may be made up for in a burst: what is left of the stream ends where the next
// one begins, and the rounds after that are whole.
TEST(OverlappedSimulation, AnIslandThatIsLateForAMomentIsMissedForAMoment) {
  const PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kMuchMemory);
  SimulationSettings settings = streamed(plan, 8);
  const auto faults =
      read_faults("[[slow]]\nisland = \"TYO\"\nlate = \"4ms\"\nfrom = \"0.9s\"\nuntil = \"1s\"\n",
                  "late.toml", plan);
  ASSERT_TRUE(faults.has_value()) << to_text(faults.error().front());
  settings.faults = *faults;
  const auto outcome = simulate(plan, settings);
  ASSERT_TRUE(outcome.has_value());
  for (const RoundOutcome& round : outcome->rounds)
    EXPECT_TRUE(round.round <= 4 || round.absences.empty()) << round.round;
}

}  // namespace
}  // namespace cotillion
