// What the coordinator does once everyone has joined: clocks are measured again, rounds are
// reported, members are lost and the job is stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/job/coordinator_fixture.hpp"

namespace cotillion {
namespace {

using testing::CoordinatorTest;
using ::testing::HasSubstr;
using testing::milliseconds;

TEST_F(CoordinatorTest, NamesThoseWhoAreNotReadyInTimeAndBeginsWithoutThem) {
  make();
  join_all();
  const Instant assigned = now_;
  for (int i = 0; i < 5; ++i) say(i, Ready{});
  now_ = assigned + settings_.ready_timeout;
  for (int i = 0; i < 6; ++i) say(i, Pong{});
  coordinator_->on_time(now_, *this);
  ASSERT_EQ(coordinator_->losses().size(), 1u);
  EXPECT_EQ(coordinator_->losses()[0].who, (Who{2, Role::kEdge}));
  EXPECT_EQ(coordinator_->losses()[0].reason, "was given its part 30 s ago and is not ready");
  let_measure();
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kStarted);
  EXPECT_EQ(heard<Start>(5), nullptr);
}

TEST_F(CoordinatorTest, MeasuresClocksAgainWhenEveryoneIsReady) {
  make();
  join_all();
  now_ = now_ + milliseconds(5000);
  for (int i = 0; i < 6; ++i) say(i, Pong{});
  ready_all(milliseconds(1), 3'000'000);  // drifted, and the trips are ten times as long as before
  ASSERT_EQ(coordinator_->state(), CoordinatorState::kStarted);
  EXPECT_EQ(heard<Start>(0)->clock, (ClockEstimate{3'000'000, 500'000}));
}

TEST_F(CoordinatorTest, NamesWhoIsReadyAndAnswersNoPing) {
  make();
  join_all();
  for (int i = 0; i < 6; ++i) say(i, Ready{});
  ASSERT_EQ(coordinator_->state(), CoordinatorState::kMeasuring);
  now_ = now_ + settings_.ready_timeout;
  for (int i = 0; i < 6; ++i) say(i, Pong{});  // old answers
  coordinator_->on_time(now_, *this);
  ASSERT_FALSE(coordinator_->losses().empty());
  EXPECT_EQ(coordinator_->losses()[0].reason, "has answered 0 of 8 pings in 30 s");
  EXPECT_THAT(coordinator_->reason(), HasSubstr("the last island of all"));
}

TEST_F(CoordinatorTest, PingsOnWhileClocksAreNotKnownWellEnough) {
  make();
  join_all();
  for (int i = 0; i < 6; ++i) say(i, Ready{});
  const Instant begun = now_;
  while (now_ - begun < milliseconds(5000)) {  // longer than eight of them take
    now_ = std::max(now_, coordinator_->next_deadline());
    coordinator_->on_time(now_, *this);
    answer_pings(milliseconds(30));
  }
  ASSERT_EQ(coordinator_->state(), CoordinatorState::kMeasuring);
  let_measure();
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kStarted);
  EXPECT_EQ(heard<Start>(4)->clock.error_ns, 50'000);
}

TEST_F(CoordinatorTest, OnesThatLeaveWhileClocksAreMeasuredAreMissedByNobody) {
  make();
  join_all();
  for (int i = 0; i < 6; ++i) say(i, Ready{});
  coordinator_->on_lost(now_, 5, "reset", *this);
  let_measure();
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kStarted);
  EXPECT_EQ(coordinator_->losses().size(), 1u);
  EXPECT_EQ(heard<Start>(5), nullptr);
  EXPECT_NE(heard<Start>(4), nullptr);
}

TEST_F(CoordinatorTest, StopsWhileClocksAreMeasured) {
  make();
  join_all();
  for (int i = 0; i < 6; ++i) say(i, Ready{});
  coordinator_->stop(now_, "asked to", *this);
  EXPECT_EQ(*heard<Stop>(3), (Stop{0, false, "asked to"}));
  for (int i = 0; i < 6; ++i) say(i, Stopped{});
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kDone);
}

TEST_F(CoordinatorTest, APongOfBeforeTheMeasuringTellsNothing) {
  make();
  join_all();
  now_ = now_ + settings_.ping_every;
  coordinator_->on_time(now_, *this);
  const auto outstanding = sent_;
  sent_.clear();
  for (int i = 0; i < 6; ++i) say(i, Ready{});
  for (const auto& [connection, list] : outstanding)
    for (const Message& message : list)
      if (const auto* ping = std::get_if<Ping>(&message))
        say(connection, Pong{ping->number, ping->sent, ping->sent, ping->sent});
  EXPECT_FALSE(coordinator_->members()[0].clock.known());
  let_measure();
  EXPECT_EQ(heard<Start>(0)->clock.error_ns, 50'000);
}

TEST_F(CoordinatorTest, RefusesToBeginWithClocksThatHaveBecomeWorse) {
  make();
  join_all();
  ready_all(milliseconds(30));
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kStopping);
  EXPECT_THAT(coordinator_->reason(), HasSubstr("are known to ±15.0 ms"));
}

TEST_F(CoordinatorTest, CollectsReportsAndStopsEveryoneAfterTheLastRound) {
  begin();
  for (const RoundId round : {1u, 2u})
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(coordinator_->rounds_reported(), round - 1);
      say(i, report(round));
    }
  EXPECT_EQ(coordinator_->accounts().size(), 12u);
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kStopping);
  EXPECT_EQ(*heard<Stop>(4), (Stop{2, false, "all rounds are played"}));
  for (int i = 0; i < 6; ++i) say(i, Stopped{});
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kDone);
  EXPECT_EQ(coordinator_->next_deadline(), kNever);
}

TEST_F(CoordinatorTest, NamesWhoHasNotReportedARoundAndForHowLong) {
  begin();
  for (int i = 1; i < 6; ++i) say(i, report(1));
  EXPECT_EQ(coordinator_->awaited(), (std::vector<Who>{{0, Role::kIsland}}));
  now_ =
      coordinator_->job_assignment().start_of(2, coordinator_->origin()) + settings_.report_timeout;
  coordinator_->on_time(now_, *this);
  EXPECT_EQ(coordinator_->losses().size(), 0u) << "edges wait for the grace before they report";
  now_ = now_ + settings_.job_settings.grace;
  coordinator_->on_time(now_, *this);
  ASSERT_EQ(coordinator_->losses().size(), 1u);
  EXPECT_EQ(coordinator_->losses()[0].reason, "has not reported round 1, which ended 5 s ago");
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kPlaying) << "the others play on";
  EXPECT_EQ(coordinator_->rounds_reported(), 1u);
}

TEST_F(CoordinatorTest, NamesWhoHasSaidNothing) {
  settings_.report_timeout = milliseconds(60'000);
  begin();
  now_ = now_ + settings_.silence_timeout;
  for (int i = 0; i < 5; ++i) say(i, Pong{});
  coordinator_->on_time(now_, *this);
  ASSERT_EQ(coordinator_->losses().size(), 1u);
  EXPECT_EQ(coordinator_->losses()[0].who, (Who{2, Role::kEdge}));
  EXPECT_THAT(coordinator_->losses()[0].reason, HasSubstr("has said nothing for 1"));
}

TEST_F(CoordinatorTest, EndsTheJobForAllWhenOneIsLostAndThatIsWanted) {
  settings_.on_loss = OnLoss::kStop;
  begin();
  coordinator_->on_lost(now_, 1, "reset", *this);
  EXPECT_EQ(coordinator_->reason(), "edge of A lost its connection: reset");
  EXPECT_EQ(heard<Stop>(1), nullptr);
  EXPECT_EQ(heard<Stop>(0)->after, 0u);
  for (const int i : {0, 2, 3, 4, 5}) say(i, Stopped{});
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kFailed);
}

TEST_F(CoordinatorTest, FailsWhenNoIslandIsLeft) {
  begin();
  for (const int i : {0, 2, 4}) coordinator_->on_lost(now_, i, "reset", *this);
  EXPECT_THAT(coordinator_->reason(), HasSubstr("the last island of all"));
}

TEST_F(CoordinatorTest, StopsAllAfterTheSameRoundWhenItIsAskedTo) {
  settings_.rounds = 10;
  begin();
  now_ = coordinator_->job_assignment().start_of(3, coordinator_->origin()) + Duration{1};
  for (const RoundId round : {1u, 2u})
    for (int i = 0; i < 6; ++i) say(i, report(round));
  coordinator_->stop(now_, "asked to", *this);
  EXPECT_EQ(*heard<Stop>(5), (Stop{3, false, "asked to"}));
  for (int i = 0; i < 6; ++i) {
    say(i, report(3));
    say(i, Stopped{});
  }
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kDone);
  EXPECT_EQ(coordinator_->accounts().size(), 18u);
}

TEST_F(CoordinatorTest, StopsAtOnceBeforeRoundOneAndNamesWhoDoesNot) {
  make();
  join_all();
  coordinator_->stop(now_, "asked to", *this);
  EXPECT_EQ(heard<Stop>(0)->after, 0u);
  for (int i = 0; i < 5; ++i) say(i, Stopped{});
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kStopping);
  now_ = now_ + settings_.stop_timeout;
  say(5, Pong{});
  coordinator_->on_time(now_, *this);
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kDone);
  ASSERT_EQ(coordinator_->losses().size(), 1u);
  EXPECT_THAT(coordinator_->losses()[0].reason, HasSubstr("was told to stop 10 s ago"));
}

TEST_F(CoordinatorTest, DropsThoseWhoseReportsAreImpossible) {
  begin();
  say(0, report(2));
  RoundReport odd = report(1);
  odd.absences.push_back({99, 1, 0});
  say(1, odd);
  odd = report(1);
  odd.mixing = {1};
  say(2, odd);
  say(3, Start{});
  ASSERT_EQ(coordinator_->losses().size(), 4u);
  EXPECT_EQ(coordinator_->losses()[0].reason, "reported round 2 after round 0 of 2");
  EXPECT_THAT(coordinator_->losses()[1].reason, HasSubstr("an impossible absence in round 1"));
  EXPECT_THAT(coordinator_->losses()[2].reason, HasSubstr("mixing of 1 island"));
  EXPECT_EQ(coordinator_->losses()[3].reason, "said Start while the job was being played");
}

TEST_F(CoordinatorTest, DropsThoseWhoseClocksAreImpossible) {
  make();
  say(0, hello(0));
  const auto* ping = heard<Ping>(0);
  say(0, Pong{ping->number, ping->sent, INT64_MIN, INT64_MAX});
  EXPECT_EQ(closed_, std::vector<ConnectionId>{0});
  EXPECT_EQ(coordinator_->awaited().size(), 6u);
}

}  // namespace
}  // namespace cotillion
