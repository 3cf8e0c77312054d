// Relaxed plans of the nine cities, played in virtual time.
#include <gtest/gtest.h>

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

std::uint64_t overtaken_in(const Outcome& outcome) {
  std::uint64_t count = 0;
  for (const ReceiverCounters& receiver : outcome.receivers)
    count += receiver[ReceiverCount::kOvertaken];
  return count;
}

// Every last packet comes when it should: later by its own hops, and sooner where it crosses links
// faster than its stream is paced.
void expect_arrivals_as_planned(const PlanFile& plan, const Outcome& outcome) {
  for (const RoundOutcome& round : outcome.rounds) {
    const PlannedRound& planned = plan.plan.rounds[(round.round - 1) % plan.plan.rounds.size()];
    const EdgeSpec& edge = plan.map.aggregators.front().spec;
    for (std::size_t c = 0; c < round.cliques.size(); ++c) {
      if (round.cliques[c].arrivals.empty()) continue;
      const Duration packet =
          rounded(transfer_time(edge.chunk + edge.framing, planned.cliques[c].rate));
      for (const ArrivalOutcome& arrival : round.cliques[c].arrivals) {
        const Duration later = arrival.measured - arrival.planned;
        const Duration hops = testing::store_and_forward(plan, planned.cliques[c]);
        EXPECT_GE(later, Duration{0} - packet - testing::kTenMicroseconds);
        EXPECT_LE(later, hops + testing::kTenMicroseconds);
      }
    }
  }
}

// Rounds are longer by what was added to them, and merges later by what whole packets need.
// `left`: the share of what was born that may not have spread by the end.
void expect_as_stale_as_planned(const PlanFile& plan, const Outcome& outcome, Duration hops,
                                double left = 0) {
  ASSERT_TRUE(outcome.exact && outcome.exact->lived);
  const auto& [planned, lived, rounds_needed] = *outcome.exact;
  EXPECT_GE(lived->absolute.ms(), planned.absolute.ms() * (1 - left) - 0.01);
  const double longer = 1 + outcome.added_slack.ms() / plan.plan.mean_length().ms();
  EXPECT_LE(lived->absolute.ms(), planned.absolute.ms() * longer + hops.ms());
}

class RelaxedNineCities
    : public ::testing::TestWithParam<std::tuple<std::string, std::string, Bytes>> {};

TEST_P(RelaxedNineCities, ArePlayedAsPlanned) {
  const auto& [schedule, relax, memory] = GetParam();
  const PlanFile plan = relaxed_nine_city_plan(schedule, relax, memory);
  const bool settles =
      !testing::kSanitized && (schedule == "triangles" || schedule == "all-to-all");
  const SimulationSettings settings = streamed(plan, settles ? 5 : 3);
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
  expect_arrivals_as_planned(plan, *outcome);
  EXPECT_EQ(overtaken_in(*outcome), 0u);
  if (settles) expect_as_stale_as_planned(plan, *outcome, {500'000'000});
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

// Whatever mixes slowly is played for as long as that takes, with larger packets.
TEST(OverlappedSimulation, SlowSchedulesAreAsStaleAsPlannedToo) {
  for (const char* schedule : {"pairs", "regional"})
    for (const char* relax : {"lengths", "all"}) {
      const PlanFile plan = relaxed_nine_city_plan(schedule, relax, kMuchMemory, {32'768});
      SimulationSettings settings = streamed(plan, 1);
      const auto few = simulate(plan, settings);
      ASSERT_TRUE(few.has_value()) << few.error().message;
      ASSERT_TRUE(few->exact && !few->exact->lived);
      settings.rounds = int(few->exact->rounds_needed);
      const auto outcome = simulate(plan, settings);
      ASSERT_TRUE(outcome.has_value());
      expect_as_stale_as_planned(plan, *outcome, {10'000'000'000}, 0.002);
      if (testing::kSanitized) return;
    }
}

// Edges that wait for long: a round is not over when the second after it is announced.
TEST(OverlappedSimulation, ThreeRoundsAreKeptWhereTwoAreNotEnough) {
  const PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kMuchMemory);
  SimulationSettings settings = streamed(plan, 12);
  settings.islands.job_settings.grace = {135'000'000'000};
  const auto assignment = JobAssignment::make(plan, settings.islands.job_settings);
  ASSERT_EQ(assignment->live_rounds(), 3);
  const auto outcome = simulate(plan, settings);
  ASSERT_TRUE(outcome.has_value());
  expect_as_planned(plan, *outcome);
  EXPECT_EQ(outcome->added_slack, Duration{0});
  EXPECT_NEAR(outcome->exact->lived->absolute.ms(), outcome->exact->planned.absolute.ms(), 0.5);
  EXPECT_EQ(overtaken_in(*outcome), 0u);
}

Result<Outcome> simulated_with_faults(const PlanFile& plan, SimulationSettings settings,
                                      const std::string& text) {
  const auto faults = read_faults(text, "late.toml", plan);
  if (!faults) return failure(to_text(faults.error().front()));
  settings.faults = *faults;
  return simulate(plan, settings);
}

// 4 ms are more than may be made up for in a burst: what is left of the stream ends where the next
// one begins, and the rounds after that are whole.
TEST(OverlappedSimulation, AnIslandThatIsLateForAMomentIsMissedForAMoment) {
  const PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kMuchMemory);
  const auto outcome = simulated_with_faults(
      plan, streamed(plan, 8),
      "[[slow]]\nisland = \"TYO\"\nlate = \"4ms\"\nfrom = \"0.9s\"\nuntil = \"1s\"\n");
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  for (const RoundOutcome& round : outcome->rounds)
    EXPECT_TRUE(round.round <= 4 || round.absences.empty()) << round.round;
}

TEST(OverlappedSimulation, WhatComesAfterTheNextCopyIsCounted) {
  const PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kMuchMemory);
  const auto outcome = simulated_with_faults(
      plan, streamed(plan, 6),
      "[[reorder]]\non = \"TYO\"\nrate = 0.05\nby = \"350ms\"\nuntil = \"0.5s\"\n");
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  EXPECT_GT(overtaken_in(*outcome), 0u);
}

}  // namespace
}  // namespace cotillion
