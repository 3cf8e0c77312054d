#include "job/overlap_margins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.hpp"
#include "job/job_assignment.hpp"
#include "job/roles.hpp"
#include "tests/support/plan/plans.hpp"
#include "topology/map_file.hpp"

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

// Rounds of a map overlap, streamed in so many fragments, or in as many as is usual.
PlanFile overlapped_plan(const std::string& map_text, const Schedule& schedule, int fragments = 0) {
  const auto map = read_map(map_text, "map.toml");
  COTILLION_CHECK(map.has_value());
  PlanSettings settings;
  settings.relax.overlap = true;
  settings.objective = Objective::kPaperStreamed;
  if (fragments > 0) settings.fragments = fragments;
  return testing::plan_file(*testing::fixture_of(*map), schedule, settings);
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

// The swarm found it: the slow stream of A in round 1 was cut when round 3 was announced.
TEST(OverlapMargins, AStreamHasLeftBeforeTheOneAfterTheNextIsAnnounced) {
  Schedule schedule;
  schedule.rounds = {completed({{{0, 2, 3}, {}}}, 4), completed({{{0, 2}, {}}}, 4),
                     completed({{{0, 2}, {}}, {{1, 3}, {}}}, 4)};
  const PlanFile plan = overlapped_plan(R"(
payload = "6688B"
defaults = { access = "1Gbps", rate = "1Gbps" }
edge = { chunk = "256B", slot = "512B" }
islands = [{ name = "A" }, { name = "B" }, { name = "C" }, { name = "D" }]
links = [
  { ends = ["C", "A"], latency = "1ms", rate = ["16Mbps", "1.355Gbps"] },
  { ends = ["C", "B"], latency = "1ms" },
  { ends = ["A", "D"], latency = ["0.005ms", "0.01ms"] },
])",
                                        schedule, 9);
  ASSERT_TRUE(plan.plan.overlapped);
  const auto made = JobAssignment::make(plan, in_fragments(9));
  ASSERT_TRUE(made.has_value()) << made.error().message;
  for (RoundId round = 1; round < 7; ++round)
    for (const IslandId island : {IslandId(0), IslandId(2)}) {
      const RoundAssignment part = made->part(round, island, {0});
      const Instant last =
          planned_departure(part.stream, sender_role(*made), made->job(), made->job_chunks() - 1);
      EXPECT_LE(last, made->start_of(round + 2, {0}) - kAnnounced) << round;
    }
}

TEST(OverlapMargins, APayloadMayEndWithinAPacket) {
  Map map = testing::with_memory(testing::example_map("nine-cities"), kGigabytes);
  map.payload = map.edge.chunk + Bytes{4};
  PlanSettings settings;
  settings.relax.overlap = true;
  settings.objective = Objective::kPaperStreamed;
  const PlanFile plan = testing::plan_file(std::move(map), "triangles", settings);
  ASSERT_TRUE(plan.plan.overlapped);
  EXPECT_EQ(refusal_of(plan, in_fragments(1)), "played");
}

// A and B are far from each other, C and D near, and they go on meanwhile.
TEST(OverlapMargins, RoundsThatFlyForMoreThanThreeAreRefused) {
  Schedule schedule;
  schedule.rounds.push_back(completed({{{0, 1}, {}}}, 4));
  for (int near = 0; near < 4; ++near) schedule.rounds.push_back(completed({{{2, 3}, {}}}, 4));
  schedule.rounds.push_back(completed({{{1, 2}, {}}}, 4));
  const PlanFile plan = overlapped_plan(R"(
payload = "64kB"
defaults = { access = "1Gbps", rate = "1Gbps" }
edge = { chunk = "256B", memory = "1MB" }
islands = [{ name = "A" }, { name = "B" }, { name = "C" }, { name = "D" }]
links = [
  { ends = ["A", "B"], latency = "500ms" },
  { ends = ["B", "C"], latency = "1ms" },
  { ends = ["C", "D"], latency = "1ms" },
])",
                                        schedule);
  ASSERT_TRUE(plan.plan.overlapped);
  EXPECT_THAT(refusal_of(plan, in_fragments(8)), HasSubstr("nobody keeps more than 3 at once"));
}

}  // namespace
}  // namespace cotillion
