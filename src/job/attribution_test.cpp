// What is attributed to whole packets and to lateness, worked by hand on two islands.
#include "job/attribution.hpp"

#include <gtest/gtest.h>

#include "job/outcome_file.hpp"
#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

constexpr std::int64_t kMicrosecond = 1'000'000;

// Access of 8 Mbps: 1,000 bytes take a millisecond; on the link between they take a tenth of it.
PlanFile two_islands() {
  const auto fixture = testing::fixture_of(testing::map_of(R"(
name = "two"
payload = "64000B"
edge = { memory = "1MB", chunk = "1024B" }
islands = [ { name = "A", access = "8Mbps" }, { name = "B", access = "8Mbps" } ]
links = [ { ends = ["A", "B"], latency = "5ms", rate = "80Mbps" } ]
)"));
  return testing::plan_file(*fixture, Schedule{"two", {completed({{{0, 1}, {}}}, 2)}});
}

Outcome one_round(const PlanFile& plan) {
  Outcome outcome;
  outcome.rounds.push_back({1, {}, {}, {{{0, 1}, {}, {}, true, {}}}, {}, {}});
  outcome.edges.push_back({0, {}, {}, {}});
  outcome.edges.push_back({1, {}, {}, {}});
  outcome.senders.resize(2);
  for (const LaneId lane : {lane_of_link(0, 0), lane_of_link(0, 1), lane_up(plan.map, 0),
                            lane_up(plan.map, 1), lane_down(plan.map, 1)})
    outcome.lanes.emplace_back().lane = lane;
  return outcome;
}

TEST(Attribution, WholePacketsSpendTheirTimeOnEveryLinkButTheFirst) {
  const PlanFile plan = two_islands();
  Outcome outcome = one_round(plan);
  attribute(plan, outcome);
  // A stream at the rate of its own access link: one packet on the core, one on the last hop.
  EXPECT_EQ(outcome.rounds[0].cliques[0].store_and_forward.ps, (102'400 + 1'024'000) * 1000);
  EXPECT_EQ(outcome.rounds[0].cliques[0].emulator.ps, 0);
  EXPECT_EQ(outcome.lanes[0].packet.ps, 102'400'000);
  EXPECT_EQ(outcome.lanes[2].packet.ps, 1'024'000'000);
}

TEST(Attribution, EmulatorsAreLateOnTheWayOfTheLastArrival) {
  const PlanFile plan = two_islands();
  Outcome outcome = one_round(plan);
  for (LaneOutcome& lane : outcome.lanes) lane.late_median = {10 * kMicrosecond};
  attribute(plan, outcome);
  // Both streams arrive last; one of them also crosses B's last hop, which somebody has seen.
  EXPECT_GE(outcome.rounds[0].cliques[0].emulator.ps, 20 * kMicrosecond);
  EXPECT_LE(outcome.rounds[0].cliques[0].emulator.ps, 30 * kMicrosecond);
}

TEST(Attribution, LatenessIsAsManyPacketsAsAStreamBringsMeanwhile) {
  const PlanFile plan = two_islands();
  Outcome outcome = one_round(plan);
  outcome.senders[0].late_ps = std::uint64_t(3'000 * kMicrosecond);
  outcome.lanes[0].late_most = {60 * kMicrosecond};     // A→B
  outcome.lanes[2].late_most = {12 * kMicrosecond};     // A→net
  outcome.lanes[4].late_most = {9'000 * kMicrosecond};  // net→B: behind the edge
  attribute(plan, outcome);
  EXPECT_EQ(outcome.edges[0].late.ps, 0);
  EXPECT_EQ(outcome.edges[0].streams, 1);
  EXPECT_EQ(outcome.edges[0].slot.count, plan.map.edge.slot.count);
  EXPECT_EQ(outcome.edges[1].late.ps, 3'072 * kMicrosecond);
  EXPECT_DOUBLE_EQ(outcome.edges[1].late_packets, 3.0);  // of 1,024 µs each
}

TEST(Attribution, RoundsThatWereNotPlayedDoNotCount) {
  const PlanFile plan = two_islands();
  Outcome outcome = one_round(plan);
  outcome.rounds.clear();
  attribute(plan, outcome);
  EXPECT_EQ(outcome.edges[1].streams, 0);
}

}  // namespace
}  // namespace cotillion
