#include "job/measured.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "job/outcome_file.hpp"
#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

class MeasuredTest : public ::testing::Test {
 protected:
  MeasuredTest() {
    Map map = testing::example_map("isosceles");
    map.payload = {2'000'000};
    plan_ = testing::written_plan(std::move(map), "all-to-all").plan;
  }

  static Account island(IslandId who, RoundId round, std::int64_t measured) {
    Account account{{who, Role::kIsland}, {}};
    account.report.round = round;
    account.report.measured = {measured};
    account.report.mixing = {0.5, 0.25, 0.25};
    return account;
  }
  [[nodiscard]] Outcome outcome(const std::vector<Account>& accounts) const {
    const auto assignment = JobAssignment::make(plan_, {});
    return measured_outcome(plan_, *assignment, accounts);
  }

  PlanFile plan_;
};

TEST_F(MeasuredTest, ARoundIsAsLongAsItsLastIslandSays) {
  const Outcome seen = outcome({island(0, 1, 10), island(1, 1, 30), island(2, 1, 20)});
  ASSERT_EQ(seen.rounds.size(), 1u);
  EXPECT_EQ(seen.rounds[0].measured, Duration{30});
  EXPECT_EQ(seen.rounds[0].cliques[0].measured, Duration{30});
  EXPECT_TRUE(seen.rounds[0].cliques[0].complete);
  EXPECT_EQ(seen.rounds[0].mixing.size(), 9u);
  EXPECT_TRUE(holds(seen));
}

TEST_F(MeasuredTest, ACliqueOfWhichSomebodyIsSilentIsNotComplete) {
  const Outcome seen = outcome({island(0, 1, 10), island(1, 1, 30)});
  EXPECT_FALSE(seen.rounds[0].cliques[0].complete);
  EXPECT_TRUE(seen.rounds[0].mixing.empty()) << "a row is not known";
}

TEST_F(MeasuredTest, AbsencesAndCountersAreThoseReported) {
  Account late = island(0, 1, 10);
  late.report.absences = {{2, 5, 1}};
  late.report.receiver.add(ReceiverCount::kLate, 4);
  Account edge{{1, Role::kEdge}, {}};
  edge.report.round = 1;
  edge.report.memory_peak = {77};
  edge.report.edge.add(EdgeCount::kTimeouts, 3);
  edge.report.arrivals = {{0, {123}}, {1, {5}}};  // the second is nobody's stream here
  const Outcome seen = outcome({late, edge});
  ASSERT_EQ(seen.rounds[0].absences.size(), 1u);
  EXPECT_EQ(seen.rounds[0].absences[0].contributor, 2);
  EXPECT_EQ(seen.receivers[0][ReceiverCount::kLate], 4u);
  EXPECT_EQ(seen.edges[1].memory_peak, Bytes{77});
  ASSERT_EQ(seen.rounds[0].cliques[0].arrivals.size(), 1u);
  EXPECT_EQ(seen.rounds[0].cliques[0].arrivals[0].measured, Duration{123});
  EXPECT_GT(seen.rounds[0].cliques[0].arrivals[0].planned, Duration{0});
  EXPECT_FALSE(holds(seen));
}

TEST_F(MeasuredTest, AnArrivalBeforeTheRoundIsNone) {
  Account edge{{1, Role::kEdge}, {}};
  edge.report.round = 1;
  edge.report.arrivals = {{0, {-5}}};
  EXPECT_EQ(outcome({edge}).rounds[0].cliques[0].arrivals[0].measured, Duration{0});
}

TEST_F(MeasuredTest, WhatNobodyReportedIsAnEmptyOutcomeThatCanBeWritten) {
  const Outcome seen = outcome({});
  EXPECT_TRUE(seen.rounds.empty());
  EXPECT_FALSE(to_json(outcome_file(plan_, seen, {}, OutcomeKind::kMeasured)).empty());
}

}  // namespace
}  // namespace cotillion
