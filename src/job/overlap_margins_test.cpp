#include "job/overlap_margins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/job_assignment.hpp"
#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;
using testing::relaxed_nine_city_plan;

constexpr Bytes kMegabytes{100'000'000}, kGigabytes{32'000'000'000};

JobSettings in_fragments(int fragments = 64) {
  JobSettings settings;
  settings.exchange = Exchange::kStreamed;
  settings.fragments = fragments;
  return settings;
}

std::string refusal_of(const PlanFile& plan, const JobSettings& settings = in_fragments()) {
  const auto made = JobAssignment::make(plan, settings);
  return made ? "played" : made.error().message;
}

// All rounds last so many times as long.
void shorten(Plan& plan, double factor) {
  RealDuration start;
  for (PlannedRound& round : plan.rounds) {
    round.start = start;
    round.length = round.length * factor;
    start = start + round.length;
  }
}

TEST(OverlapMargins, APlanIsPlayedInItsOwnTimeWhereItHasRoom) {
  for (const char* schedule : {"triangles", "pairs", "regional", "all-to-all"}) {
    const PlanFile plan = relaxed_nine_city_plan(schedule, "all", kGigabytes);
    const auto made = JobAssignment::make(plan, in_fragments());
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_EQ(made->added_slack(), Duration{0}) << schedule;
    // And still packets and clocks may be late by hops and grace.
    EXPECT_GT(made->slack(), in_fragments().grace + in_fragments().grace) << schedule;
    EXPECT_EQ(made->live_rounds(), 2) << schedule;
    EXPECT_EQ(made->start_of(RoundId(plan.plan.rounds.size() + 1), {0}).ps,
              rounded(plan.plan.mean_length() * double(plan.plan.rounds.size())).ps);
  }
}

TEST(OverlapMargins, RoundsAreLongerByWhatAMergeLacksBeforeTheNextCopy) {
  const PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kGigabytes);
  const auto whole = JobAssignment::make(plan, in_fragments(1));
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  // Everything is merged a round and its flight after it was copied, and copied then.
  const double least = plan.plan.round.ms() - plan.plan.mean_length().ms();
  EXPECT_GT(whole->added_slack().ms(), least);
  EXPECT_LT(whole->added_slack().ms(), least + 6);
  JobSettings patient = in_fragments();
  patient.grace = {200'000'000'000};
  const auto late = JobAssignment::make(plan, patient);
  ASSERT_TRUE(late.has_value()) << late.error().message;
  EXPECT_GT(late->added_slack(), Duration{0});
  EXPECT_LT(late->added_slack(), patient.grace + patient.grace);
}

TEST(OverlapMargins, ThreeRoundsAreKeptWhereTwoAreNotEnough) {
  PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kGigabytes);
  JobSettings patient = in_fragments();
  patient.grace = {135'000'000'000};
  const auto made = JobAssignment::make(plan, patient);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->live_rounds(), 3);
  for (RoundId round = 1; round < 9; ++round)
    EXPECT_LE(made->over(round, {0}), made->start_of(round + 3, {0}) - kAnnounced);
  EXPECT_GT(made->over(1, {0}) + patient.grace, made->start_of(3, {0}));
}

TEST(OverlapMargins, AnExchangeOfWholeModelsIsRefused) {
  const PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kGigabytes);
  EXPECT_THAT(refusal_of(plan, {}), HasSubstr("--exchange streamed --fragments 64"));
}

TEST(OverlapMargins, PlansThatOverlapMoreThanEdgesHoldAreRefusedWithTheEdge) {
  PlanFile plan = relaxed_nine_city_plan("triangles", "all", kMegabytes);
  ASSERT_EQ(refusal_of(plan), "played");
  for (Aggregator& aggregator : plan.map.aggregators) aggregator.spec.memory = {1'000'000};
  EXPECT_THAT(refusal_of(plan), HasSubstr("bring the edge of "));
  EXPECT_THAT(refusal_of(plan), HasSubstr("and it has room for 1 MB; give it more memory"));
  JobSettings rehearsed = in_fragments();
  rehearsed.memory = Bytes{1'000'000};
  EXPECT_EQ(refusal_of(plan, rehearsed), "played");  // to see it overflow
}

TEST(OverlapMargins, PlansThatOverlapMoreThanLanesCarryAreRefusedWithTheLane) {
  PlanFile plan = relaxed_nine_city_plan("triangles", "all", kGigabytes);
  for (Island& island : plan.map.islands) island.down.value *= 0.99;
  EXPECT_THAT(refusal_of(plan), HasSubstr("bring net"));
  EXPECT_THAT(refusal_of(plan), HasSubstr("to 0.4 Gbps, and it has 0.396"));
}

TEST(OverlapMargins, RoundsThatAreTooShortAreRefusedWithTheIsland) {
  PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kGigabytes);
  shorten(plan.plan, 0.99);
  EXPECT_THAT(refusal_of(plan), HasSubstr("is to begin its stream of round 1 4.0 ms before"));
  shorten(plan.plan, 0.001);
  EXPECT_NE(refusal_of(plan), "played");
  shorten(plan.plan, 0);
  EXPECT_NE(refusal_of(plan), "played");
}

TEST(OverlapMargins, CopiesBeforeTheMergeOfWhatTheyReplaceAreRefused) {
  PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kGigabytes);
  for (PlannedClique& clique : plan.plan.rounds[0].cliques)
    clique.sums[3] = clique.sums[3] + RealDuration(Duration{400'000'000'000});
  EXPECT_THAT(refusal_of(plan), HasSubstr("before it has merged that of round 1"));
}

TEST(OverlapMargins, StreamsThatDoNotTakeWhatTheirRateSaysAreRefused) {
  PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kGigabytes);
  for (PlannedClique& clique : plan.plan.rounds[0].cliques)
    clique.serialisation = clique.serialisation / 2;
  EXPECT_THAT(refusal_of(plan), HasSubstr("(serialisation_ms)"));
}

TEST(OverlapMargins, RoundsThatFlyForMoreThanThreeAreRefused) {
  PlanFile plan = relaxed_nine_city_plan("all-to-all", "all", kGigabytes);
  JobSettings patient = in_fragments();
  patient.grace = {900'000'000'000};
  EXPECT_EQ(refusal_of(plan, patient), "played");  // the stretch makes room
  for (PlannedClique& clique : plan.plan.rounds[0].cliques) {
    for (Stream& stream : clique.streams)
      stream.offset = stream.offset + RealDuration(Duration{2'000'000'000'000});
    for (RealDuration& sum : clique.sums) sum = sum + RealDuration(Duration{2'000'000'000'000});
  }
  EXPECT_THAT(refusal_of(plan), HasSubstr("nobody keeps more than 3 at once"));
}

}  // namespace
}  // namespace cotillion
