#include "job/measured.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "job/outcome_file.hpp"
#include "plan/overlap.hpp"
#include "plan/replay.hpp"
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

// Rounds that overlap, and everybody's account of them when everything is as planned. Merges are
// told of a round later.
class ReportedMoves : public ::testing::Test {
 protected:
  ReportedMoves() {
    Map map = testing::example_map("isosceles");
    for (Aggregator& aggregator : map.aggregators) aggregator.spec.memory = map.payload;
    PlanSettings settings;
    settings.relax.overlap = true;
    settings.objective = Objective::kPaperStreamed;
    settings.fragments = kFragments;
    plan_ = testing::written_plan(std::move(map), "all-to-all", settings).plan;
    job_settings_.exchange = Exchange::kStreamed;
    job_settings_.fragments = kFragments;
  }

  [[nodiscard]] std::vector<Account> accounts(RoundId rounds) const {
    const PlannedClique& clique = plan_.plan.rounds[0].cliques[0];
    const RealDuration stride = clique.serialisation * (1.0 / kFragments);
    std::vector<Account> all;
    for (IslandId island = 0; island < 3; ++island)
      for (RoundId round = 1; round <= rounds; ++round) {
        Account account{{island, Role::kIsland}, {}};
        account.report.round = round;
        account.report.mixing = {1.0 / 3, 1.0 / 3, 1.0 / 3};
        for (int f = 0; f < kFragments; ++f) {
          const auto member = std::size_t(island);
          account.report.moves.push_back(
              {round, f, false, rounded(clique.streams[member].offset + stride * double(f))});
          if (round > 1)
            account.report.moves.push_back(
                {round - 1, f, true, rounded(sum_begins(clique, member) + stride * (f + 1.0))});
        }
        all.push_back(std::move(account));
      }
    return all;
  }
  [[nodiscard]] std::optional<ExactOutcome> exact(const std::vector<Account>& accounts) const {
    const auto assignment = JobAssignment::make(plan_, job_settings_);
    EXPECT_EQ(assignment->added_slack(), Duration{0});
    return measured_outcome(plan_, *assignment, accounts).exact;
  }

  static constexpr int kFragments = 4;
  PlanFile plan_;
  JobSettings job_settings_;
};

TEST_F(ReportedMoves, AsPlannedAreAsStaleAsPlanned) {
  const auto exact = this->exact(accounts(9));
  ASSERT_TRUE(exact && exact->lived);
  EXPECT_NEAR(exact->planned.absolute.ms(),
              exact_staleness(3, plan_.plan)[int(Objective::kPaperStreamed)].ms(), 1e-9);
  EXPECT_NEAR(exact->lived->absolute.ms(), exact->planned.absolute.ms(), 1e-6);
  EXPECT_NEAR(exact->lived->squared.ms(), exact->planned.squared.ms(), 1e-6);
}

TEST_F(ReportedMoves, OfTooFewRoundsSayHowManyWouldDo) {
  const auto few = exact(accounts(4));
  ASSERT_TRUE(few.has_value());
  EXPECT_FALSE(few->lived.has_value());
  EXPECT_EQ(few->rounds_needed, 5u);
  EXPECT_TRUE(exact(accounts(5))->lived.has_value());
}

TEST_F(ReportedMoves, ThatContradictOneAnotherAreNotCounted) {
  std::vector<Account> told = accounts(9);
  for (ReportedMove& move : told.back().report.moves)
    if (move.merged) move.at = {-1'000'000'000'000};
  const auto exact = this->exact(told);
  ASSERT_TRUE(exact.has_value());
  EXPECT_FALSE(exact->lived.has_value());
}

TEST_F(ReportedMoves, LeaveOutWhatWasNeverCopied) {
  std::vector<Account> told = accounts(9);
  for (Account& account : told)
    if (account.who.island == 2)
      std::erase_if(account.report.moves, [](const ReportedMove& move) {
        return move.round == 3 && move.fragment == kFragments - 1;
      });
  const auto exact = this->exact(told);
  ASSERT_TRUE(exact && exact->lived);
  EXPECT_GT(exact->lived->absolute, exact->planned.absolute);
}

TEST_F(ReportedMoves, OfFragmentsThatCannotBeAreIgnored) {
  std::vector<Account> told = accounts(9);
  told.back().report.moves.push_back({7, -1, true, {5}});
  told.back().report.moves.push_back({7, 1 << 30, true, {5}});
  told.back().report.moves.push_back({4'000'000'000u, 0, false, {5}});
  EXPECT_TRUE(exact(told)->lived.has_value());
}

}  // namespace
}  // namespace cotillion
