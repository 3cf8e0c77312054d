#include "job/coordinator.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/fingerprint.hpp"
#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::milliseconds;
using State = CoordinatorState;

constexpr WallClock kZero = 1'700'000'000'000'000'000;

// A coordinator, with six members whose lines the test speaks.
class CoordinatorTest : public ::testing::Test, public CoordinatorOutbox {
 protected:
  CoordinatorTest() {
    Map map = testing::example_map("isosceles");
    map.payload = {2'000'000};
    plan_ = testing::written_plan(std::move(map), "pairs");
    settings_.version = "1.0";
    settings_.zero = kZero;
    settings_.rounds = 2;
  }

  Coordinator& make() {
    auto made = Coordinator::make(now_, plan_.plan, plan_.text, settings_);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    coordinator_ = std::make_unique<Coordinator>(std::move(*made));
    return *coordinator_;
  }

  static Hello hello(int index) {
    return {std::string(1, char('A' + index / 2)),
            index % 2 ? Role::kEdge : Role::kIsland,
            BootId(7 + index),
            fmt::format("127.0.0.1:{}", 1000 + 10 * index),
            {},
            "1.0",
            ""};
  }
  void say(ConnectionId from, const Message& message) {
    coordinator_->on_message(now_, from, message, *this);
  }
  // Answers every ping so long after it was sent, with a clock so far ahead.
  void answer_pings(Duration trip, std::int64_t ahead_ns = 0) {
    for (bool any = true; any;) {
      any = false;
      for (auto& [connection, list] : std::exchange(sent_, {}))
        for (const Message& message : list)
          if (const auto* ping = std::get_if<Ping>(&message)) {
            any = true;
            now_ = instant_of(ping->sent, kZero) + trip;
            const WallClock came = ping->sent + trip.ps / 2000 + ahead_ns;
            say(connection, Pong{ping->number, ping->sent, came, came});
          } else {
            kept_[connection].push_back(message);
          }
    }
  }
  void join_all() {
    for (int i = 0; i < 6; ++i) say(i, hello(i));
    answer_pings({100'000'000});
  }
  void ready_all(Duration trip = {100'000'000}, std::int64_t ahead_ns = 0) {
    for (int i = 0; i < 6; ++i) say(i, Ready{});
    let_measure(trip, ahead_ns);
  }
  void let_measure(Duration trip = {100'000'000}, std::int64_t ahead_ns = 0) {
    while (coordinator_->state() == State::kMeasuring) {
      now_ = std::max(now_, coordinator_->next_deadline());
      coordinator_->on_time(now_, *this);
      answer_pings(trip, ahead_ns);
    }
  }
  void begin() {
    make();
    join_all();
    ready_all();
    now_ = coordinator_->origin();
    coordinator_->on_time(now_, *this);
    EXPECT_EQ(coordinator_->state(), State::kPlaying);
  }
  static RoundReport report(RoundId round) {
    RoundReport report;
    report.round = round;
    return report;
  }
  template <class T>
  const T* heard(ConnectionId who) {
    const T* last = nullptr;
    for (auto* lists : {&kept_, &sent_})
      for (const Message& message : (*lists)[who])
        if (const T* one = std::get_if<T>(&message)) last = one;
    return last;
  }

  void send(ConnectionId to, const Message& message) override { sent_[to].push_back(message); }
  void close(ConnectionId connection) override { closed_.push_back(connection); }
  void note(const std::string& line) override { notes_.push_back(line); }

  testing::PlanAndText plan_;
  CoordinatorSettings settings_;
  std::unique_ptr<Coordinator> coordinator_;
  Instant now_{0};
  std::map<ConnectionId, std::vector<Message>> sent_, kept_;
  std::vector<ConnectionId> closed_;
  std::vector<std::string> notes_;
};

TEST_F(CoordinatorTest, HandsEveryoneThePlanAndEveryonesBootsAndAddresses) {
  make();
  join_all();
  EXPECT_EQ(coordinator_->state(), State::kAssigned);
  for (int i = 0; i < 6; ++i) {
    const auto* assignment = heard<Assignment>(i);
    ASSERT_NE(assignment, nullptr);
    EXPECT_EQ(assignment->plan_text, plan_.text);
    EXPECT_EQ(assignment->plan, fingerprint(plan_.text));
    EXPECT_EQ(assignment->you, (Who{i / 2, i % 2 ? Role::kEdge : Role::kIsland}));
    ASSERT_EQ(assignment->seats.size(), 6u);
    for (int seat = 0; seat < 6; ++seat) {
      EXPECT_EQ(assignment->seats[std::size_t(seat)].boot, BootId(7 + seat));
      EXPECT_EQ(assignment->seats[std::size_t(seat)].address, hello(seat).address);
    }
  }
}

TEST_F(CoordinatorTest, TellsEveryoneTheSameInstantAndHowItsClockStands) {
  make();
  for (int i = 0; i < 6; ++i) say(i, hello(i));
  answer_pings(milliseconds(1), 7'000'000);
  ready_all({100'000'000}, 5'000'000);
  ASSERT_EQ(coordinator_->state(), State::kStarted);
  EXPECT_GE(coordinator_->origin() - now_, settings_.lead);
  for (int i = 0; i < 6; ++i) {
    const auto* start = heard<Start>(i);
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(instant_of(start->origin, kZero), coordinator_->origin());
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
  EXPECT_EQ(coordinator_->state(), State::kStopping);
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
  ASSERT_EQ(coordinator_->state(), State::kStarted);
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
  EXPECT_EQ(coordinator_->state(), State::kFailed);
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
  EXPECT_EQ(coordinator_->state(), State::kStarted);
  EXPECT_EQ(heard<Start>(5), nullptr);
}

TEST_F(CoordinatorTest, MeasuresClocksAgainWhenEveryoneIsReady) {
  make();
  join_all();
  now_ = now_ + milliseconds(5000);
  for (int i = 0; i < 6; ++i) say(i, Pong{});
  ready_all(milliseconds(1), 3'000'000);  // drifted, and the trips are ten times as long as before
  ASSERT_EQ(coordinator_->state(), State::kStarted);
  EXPECT_EQ(heard<Start>(0)->clock, (ClockEstimate{3'000'000, 500'000}));
}

TEST_F(CoordinatorTest, NamesWhoIsReadyAndAnswersNoPing) {
  make();
  join_all();
  for (int i = 0; i < 6; ++i) say(i, Ready{});
  ASSERT_EQ(coordinator_->state(), State::kMeasuring);
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
  ASSERT_EQ(coordinator_->state(), State::kMeasuring);
  let_measure();
  EXPECT_EQ(coordinator_->state(), State::kStarted);
  EXPECT_EQ(heard<Start>(4)->clock.error_ns, 50'000);
}

TEST_F(CoordinatorTest, OnesThatLeaveWhileClocksAreMeasuredAreMissedByNobody) {
  make();
  join_all();
  for (int i = 0; i < 6; ++i) say(i, Ready{});
  coordinator_->on_lost(now_, 5, "reset", *this);
  let_measure();
  EXPECT_EQ(coordinator_->state(), State::kStarted);
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
  EXPECT_EQ(coordinator_->state(), State::kDone);
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
  EXPECT_EQ(coordinator_->state(), State::kStopping);
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
  EXPECT_EQ(coordinator_->state(), State::kStopping);
  EXPECT_EQ(*heard<Stop>(4), (Stop{2, false, "all rounds are played"}));
  for (int i = 0; i < 6; ++i) say(i, Stopped{});
  EXPECT_EQ(coordinator_->state(), State::kDone);
  EXPECT_EQ(coordinator_->next_deadline(), kNever);
}

TEST_F(CoordinatorTest, NamesWhoHasNotReportedARoundAndForHowLong) {
  begin();
  for (int i = 1; i < 6; ++i) say(i, report(1));
  EXPECT_EQ(coordinator_->awaited(), (std::vector<Who>{{0, Role::kIsland}}));
  now_ =
      coordinator_->job_assignment().start_of(2, coordinator_->origin()) + settings_.report_timeout;
  coordinator_->on_time(now_, *this);
  EXPECT_EQ(coordinator_->losses().size(), 0u)
      << "edges are patient for a while before they report";
  now_ = now_ + settings_.job_settings.grace;
  coordinator_->on_time(now_, *this);
  ASSERT_EQ(coordinator_->losses().size(), 1u);
  EXPECT_EQ(coordinator_->losses()[0].reason, "has not reported round 1, which ended 5 s ago");
  EXPECT_EQ(coordinator_->state(), State::kPlaying) << "the others play on";
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
  EXPECT_EQ(coordinator_->state(), State::kFailed);
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
  EXPECT_EQ(coordinator_->state(), State::kDone);
  EXPECT_EQ(coordinator_->accounts().size(), 18u);
}

TEST_F(CoordinatorTest, StopsAtOnceBeforeRoundOneAndNamesWhoDoesNot) {
  make();
  join_all();
  coordinator_->stop(now_, "asked to", *this);
  EXPECT_EQ(heard<Stop>(0)->after, 0u);
  for (int i = 0; i < 5; ++i) say(i, Stopped{});
  EXPECT_EQ(coordinator_->state(), State::kStopping);
  now_ = now_ + settings_.stop_timeout;
  say(5, Pong{});
  coordinator_->on_time(now_, *this);
  EXPECT_EQ(coordinator_->state(), State::kDone);
  ASSERT_EQ(coordinator_->losses().size(), 1u);
  EXPECT_THAT(coordinator_->losses()[0].reason, HasSubstr("was told to stop 10 s ago"));
}

TEST_F(CoordinatorTest, DropsThoseWhoseReportsCannotBe) {
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
  EXPECT_THAT(coordinator_->losses()[1].reason, HasSubstr("an absence in round 1"));
  EXPECT_THAT(coordinator_->losses()[2].reason, HasSubstr("mixing of 1 island"));
  EXPECT_EQ(coordinator_->losses()[3].reason, "said Start while the job was being played");
}

TEST_F(CoordinatorTest, DropsThoseWhoseClocksCannotBe) {
  make();
  say(0, hello(0));
  const auto* ping = heard<Ping>(0);
  say(0, Pong{ping->number, ping->sent, INT64_MIN, INT64_MAX});
  EXPECT_EQ(closed_, std::vector<ConnectionId>{0});
  EXPECT_EQ(coordinator_->awaited().size(), 6u);
}

}  // namespace
}  // namespace cotillion
