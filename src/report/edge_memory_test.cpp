// Peaks of memory, measured beside simulated.
#include "job/edge_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/side_by_side_report.hpp"
#include "tests/support/job/outcomes.hpp"

namespace cotillion {
namespace {

using testing::as_planned;
using ::testing::HasSubstr;
using testing::made_from_plan;
using testing::small_plan;

constexpr IslandId kTokyo = 0;

// Triangles: two streams into every edge. Tokyo's held so many packets more than simulated, and
// streams came so many packets late.
std::vector<NamedOutcome> outcomes_with(int packets_more, double late_packets) {
  const PlanFile plan = small_plan();
  Outcome simulated = as_planned(plan, 2), measured = as_planned(plan, 2);
  std::vector<NamedOutcome> outcomes;
  outcomes.push_back({"simulated", outcome_file(plan, simulated, made_from_plan())});
  measured.edges[kTokyo].memory_peak =
      measured.edges[kTokyo].memory_peak + Bytes{packets_more * plan.map.edge.slot.count};
  outcomes.push_back(
      {"measured", outcome_file(plan, measured, made_from_plan(), OutcomeKind::kMeasured)});
  EdgeOutcome& edge = outcomes.back().file.outcome.edges[kTokyo];
  edge.late_packets = late_packets;
  edge.late = {std::int64_t(late_packets * 1e9)};
  return outcomes;
}

BeyondSimulated beyond_of(const std::vector<NamedOutcome>& outcomes) {
  const auto sides = side_by_side(outcomes);
  EXPECT_TRUE(sides.has_value());
  const auto beyond = beyond_simulated(sides->front(), sides->front().edges[kTokyo], 1);
  EXPECT_TRUE(beyond.has_value());
  return beyond.value_or(BeyondSimulated{});
}

TEST(EdgeMemory, TwoPacketsAStreamNeedNoExplanation) {
  for (const int packets : {-1, 0, 4}) {
    const BeyondSimulated beyond = beyond_of(outcomes_with(packets, 0));
    EXPECT_EQ(beyond.packets, packets);
    EXPECT_EQ(beyond.a_stream, packets / 2.0);
    EXPECT_EQ(beyond.verdict, MemoryVerdict::kWithin);
  }
}

TEST(EdgeMemory, MoreIsExplainedByAsManyLatePackets) {
  EXPECT_EQ(beyond_of(outcomes_with(5, 0)).verdict, MemoryVerdict::kNotExplained);
  EXPECT_EQ(beyond_of(outcomes_with(5, 0.9)).verdict, MemoryVerdict::kNotExplained);
  EXPECT_EQ(beyond_of(outcomes_with(5, 1)).verdict, MemoryVerdict::kExplained);
  EXPECT_EQ(beyond_of(outcomes_with(20, 16)).verdict, MemoryVerdict::kExplained);
  EXPECT_EQ(beyond_of(outcomes_with(20, 15)).verdict, MemoryVerdict::kNotExplained);
}

TEST(EdgeMemory, TheTableSaysHowMuchIsBeyondAndWhatExplainsIt) {
  const auto outcomes = outcomes_with(20, 17);
  const auto sides = side_by_side(outcomes);
  const Rows rows = memory_table(sides->front());
  EXPECT_THAT(rows[0],
              ::testing::ElementsAre("memory at", "planned", "simulated peak", "measured peak",
                                     "packets a stream beyond simulated", ""));
  EXPECT_EQ(rows[1][4], "+10.0");
  EXPECT_EQ(rows[1][5], "packets came up to 17.0 ms late: 8.5 a stream, which can explain it");
  EXPECT_EQ(rows[2][4], "+0.0");
  EXPECT_EQ(rows[2][5], "within two");
  const Json edge = to_json(sides->front())["edges"][0];
  EXPECT_EQ(edge["streams"], 2);
  EXPECT_EQ(edge["seen"][1]["beyond_simulated"]["packets"], 20);
  EXPECT_EQ(edge["seen"][1]["beyond_simulated"]["verdict"], "explained");
  EXPECT_FALSE(edge["seen"][0].contains("beyond_simulated"));
}

TEST(EdgeMemory, WithoutASimulationNothingIsSaid) {
  auto outcomes = outcomes_with(20, 0);
  outcomes.erase(outcomes.begin());
  const auto sides = side_by_side(outcomes);
  EXPECT_FALSE(beyond_simulated(sides->front(), sides->front().edges[kTokyo], 0).has_value());
  EXPECT_EQ(memory_table(sides->front())[0].size(), 3u);
}

TEST(EdgeMemory, ASimulationWithTheSameFaultsIsPreferred) {
  auto outcomes = outcomes_with(20, 0);
  NamedOutcome rough = outcomes[0];
  rough.name = "rough";
  for (NamedOutcome* with : {&rough, &outcomes[1]})
    with->file.made_by.inputs.emplace_back("faults", "sha256:f");
  rough.file.outcome.edges[kTokyo].memory_peak = outcomes[1].file.outcome.edges[kTokyo].memory_peak;
  outcomes.push_back(rough);
  const auto sides = side_by_side(outcomes);
  const SideBySide& all = sides->front();
  ASSERT_EQ(all.columns[2].title, "measured, faults");
  EXPECT_EQ(all.columns[*simulated_beside(all, 2)].title, "simulated, faults");
  EXPECT_EQ(beyond_simulated(all, all.edges[kTokyo], 2)->packets, 0);
  EXPECT_FALSE(simulated_beside(all, 0).has_value());
}

}  // namespace
}  // namespace cotillion
