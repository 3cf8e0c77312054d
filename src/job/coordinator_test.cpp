#include "job/coordinator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fingerprint.hpp"
#include "tests/support/job/coordinator_fixture.hpp"

namespace cotillion {
namespace {

using ::testing::AllOf;
using testing::CoordinatorTest;
using ::testing::HasSubstr;
using testing::kWallZero;
using testing::milliseconds;

TEST_F(CoordinatorTest, HandsEveryoneThePlanAndEveryonesBootsAndAddresses) {
  make();
  join_all();
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kAssigned);
  for (int i = 0; i < 6; ++i) {
    const auto* assignment = heard<Assignment>(i);
    ASSERT_NE(assignment, nullptr);
    EXPECT_EQ(assignment->plan_text, plan_.text);
    EXPECT_EQ(assignment->plan, fingerprint(plan_.text));
    EXPECT_EQ(assignment->you, (Who{IslandId(i / 2), i % 2 ? Role::kEdge : Role::kIsland}));
    ASSERT_EQ(assignment->members.size(), 6u);
    for (int member = 0; member < 6; ++member) {
      EXPECT_EQ(assignment->members[std::size_t(member)].boot, BootId(7 + member));
      EXPECT_EQ(assignment->members[std::size_t(member)].address, hello(member).address);
    }
  }
}

TEST_F(CoordinatorTest, TellsEveryoneTheSameInstantAndHowItsClockStands) {
  make();
  for (int i = 0; i < 6; ++i) say(i, hello(i));
  answer_pings(milliseconds(1), 7'000'000);
  ready_all({100'000'000}, 5'000'000);
  ASSERT_EQ(coordinator_->state(), CoordinatorState::kStarted);
  EXPECT_GE(coordinator_->origin() - now_, settings_.lead);
  for (int i = 0; i < 6; ++i) {
    const auto* start = heard<Start>(i);
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(instant_of(start->origin, kWallZero), coordinator_->origin());
    EXPECT_EQ(start->clock.ahead_ns, 5'000'000);
    EXPECT_EQ(start->clock.error_ns, 50'000);
  }
}

TEST_F(CoordinatorTest, LeavesTimeForStartToReachTheFarthest) {
  settings_.lead = {0};
  settings_.job_settings.grace = milliseconds(1000);
  make();
  for (int i = 0; i < 6; ++i) say(i, hello(i));
  answer_pings(milliseconds(300));
  ready_all(milliseconds(300));
  EXPECT_GT(coordinator_->origin() - now_, milliseconds(300));
}

TEST_F(CoordinatorTest, RefusesAnIslandThatIsNotInThePlan) {
  make();
  Hello stranger = hello(0);
  stranger.island = "Z";
  say(9, stranger);
  ASSERT_NE(heard<Refusal>(9), nullptr);
  EXPECT_EQ(heard<Refusal>(9)->reason, "no island of the plan is called 'Z'; it has A, B, C");
  EXPECT_EQ(closed_, std::vector<ConnectionId>{9});
}

TEST_F(CoordinatorTest, RefusesAnotherVersionAnotherPlanAndNoBoot) {
  make();
  Hello other = hello(0);
  other.version = "0.9";
  say(1, other);
  EXPECT_THAT(heard<Refusal>(1)->reason, AllOf(HasSubstr("0.9"), HasSubstr("1.0")));
  other = hello(0);
  other.plan = "sha256:abc";
  say(2, other);
  EXPECT_THAT(heard<Refusal>(2)->reason, HasSubstr("another plan"));
  other = hello(0);
  other.boot = 0;
  say(3, other);
  EXPECT_THAT(heard<Refusal>(3)->reason, HasSubstr("boot id 0"));
}

TEST_F(CoordinatorTest, RefusesASecondProcessButTakesTheSameOneAgain) {
  make();
  say(1, hello(0));
  Hello twin = hello(0);
  twin.boot = 99;
  say(2, twin);
  EXPECT_THAT(heard<Refusal>(2)->reason, HasSubstr("has joined already"));
  say(3, hello(0));  // its old connection broke, which nobody told us
  EXPECT_EQ(heard<Refusal>(3), nullptr);
  EXPECT_EQ(closed_, (std::vector<ConnectionId>{2, 1}));
}

TEST_F(CoordinatorTest, RefusesTwoWhosePacketsWouldComeToOnePort) {
  settings_.shards = 4;
  make();
  say(0, hello(0));
  Hello other = hello(1);
  other.address = hello(0).address;
  say(1, other);
  ASSERT_NE(heard<Refusal>(1), nullptr);
  EXPECT_THAT(heard<Refusal>(1)->reason,
              HasSubstr("island A has joined from 127.0.0.1:1000, and packets of both would come "
                        "to the same port"));
  other.address = "127.0.0.1:1003";  // the last one of the first's four shards
  say(2, other);
  EXPECT_NE(heard<Refusal>(2), nullptr);
  other.address = "127.0.0.1:1004";
  say(3, other);
  EXPECT_EQ(heard<Refusal>(3), nullptr);
  other = hello(2);
  other.address = "127.0.0.2:1000";
  say(4, other);
  EXPECT_EQ(heard<Refusal>(4), nullptr);
}

TEST_F(CoordinatorTest, RefusesThoseWhoSpeakBeforeHelloOrComeWhenTheJobHasBegun) {
  begin();
  say(20, Ready{});
  EXPECT_THAT(heard<Refusal>(20)->reason, HasSubstr("say Hello first"));
  coordinator_->on_lost(now_, 0, "reset", *this);
  say(21, hello(0));
  EXPECT_THAT(heard<Refusal>(21)->reason, HasSubstr("nobody joins it any more"));
}

TEST_F(CoordinatorTest, RefusesToPlayWithClocksFurtherApartThanEdgesWait) {
  make();
  for (int i = 0; i < 6; ++i) say(i, hello(i));
  answer_pings(milliseconds(30));
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kStopping);
  EXPECT_THAT(coordinator_->reason(), AllOf(HasSubstr("±15.0 ms and ±15.0 ms"),
                                            HasSubstr("edges wait 1.0 ms"), HasSubstr("of slack")));
  EXPECT_TRUE(heard<Stop>(3)->failed);
}

TEST_F(CoordinatorTest, BelievesClocksThatAreKeptByOthersWhenTheyAreBetter) {
  settings_.clock = {0, 1000};
  make();
  for (int i = 0; i < 6; ++i) {
    Hello kept = hello(i);
    kept.clock = {250, 2000};
    say(i, kept);
  }
  answer_pings(milliseconds(30));
  ready_all(milliseconds(30));
  ASSERT_EQ(coordinator_->state(), CoordinatorState::kStarted);
  EXPECT_EQ(heard<Start>(2)->clock, (ClockEstimate{250, 3000}));
}

TEST_F(CoordinatorTest, NamesThoseWhoHaveNotJoinedInTime) {
  make();
  for (int i = 0; i < 4; ++i) say(i, hello(i));
  answer_pings({100'000'000});
  EXPECT_EQ(coordinator_->awaited(), (std::vector<Who>{{2, Role::kIsland}, {2, Role::kEdge}}));
  settings_.silence_timeout = settings_.join_timeout + milliseconds(1);
  now_ = Instant{0} + settings_.join_timeout;
  for (int i = 0; i < 4; ++i) say(i, Pong{});  // an old answer: alive, no more
  coordinator_->on_time(now_, *this);
  EXPECT_EQ(coordinator_->reason(), "after 60 s these have not joined: island C, edge of C");
  EXPECT_TRUE(heard<Stop>(0)->failed);
  for (int i = 0; i < 4; ++i) say(i, Stopped{});
  EXPECT_EQ(coordinator_->state(), CoordinatorState::kFailed);
}

TEST_F(CoordinatorTest, WaitsAgainForOneThatLeftWhileOthersGathered) {
  make();
  say(1, hello(0));
  coordinator_->on_lost(now_, 1, "reset", *this);
  EXPECT_EQ(coordinator_->awaited().size(), 6u);
  EXPECT_TRUE(coordinator_->losses().empty());
  Hello reborn = hello(0);
  reborn.boot = 1000;
  say(2, reborn);
  EXPECT_EQ(heard<Refusal>(2), nullptr);
}

}  // namespace
}  // namespace cotillion
