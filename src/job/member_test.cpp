#include "job/member.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/fingerprint.hpp"
#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;
using testing::milliseconds;

constexpr WallClock kZero = 1'700'000'000'000'000'000;

class MemberTest : public ::testing::Test, public MemberHost {
 protected:
  MemberTest() {
    Map map = testing::example_map("isosceles");
    map.payload = {2'000'000};
    plan_ = testing::written_plan(std::move(map), "pairs");
    MemberSettings settings;
    settings.hello = {"B", Role::kIsland, 5, "127.0.0.1:1", {}, "1.0", ""};
    settings.zero = kZero;
    member_.emplace(now_, settings);
    member_->begin(now_, *this);
  }

  [[nodiscard]] Assignment assignment() const {
    Assignment assignment;
    assignment.rounds = 3;
    assignment.you = {1, Role::kIsland};
    assignment.plan_text = plan_.text;
    assignment.plan = fingerprint(plan_.text);
    for (int i = 0; i < 6; ++i)
      assignment.members.push_back(
          {{IslandId(i / 2), i % 2 ? Role::kEdge : Role::kIsland}, BootId(i + 1), ""});
    return assignment;
  }
  void hear(const Message& message) { member_->on_message(now_, message, *this); }
  void begin() {
    hear(assignment());
    member_->ready(now_, *this);
    hear(Start{wall_of(now_ + milliseconds(2000), kZero), {0, 1000}});
  }
  template <class T>
  const T* last() const {
    return sent_.empty() ? nullptr : std::get_if<T>(&sent_.back());
  }

  void send(const Message& message) override { sent_.push_back(message); }
  void prepare() override { prepared_ = true; }
  void play(Instant origin) override { origin_ = origin; }
  void stop(RoundId after, const std::string& reason) override { stop_ = {after, reason}; }

  testing::PlanAndText plan_;
  Instant now_{milliseconds(10'000).ps};
  std::optional<Member> member_;
  std::vector<Message> sent_;
  bool prepared_ = false;
  Instant origin_ = kNever;
  std::optional<std::pair<RoundId, std::string>> stop_;
};

TEST_F(MemberTest, SaysHelloAndAnswersPingsWithItsOwnTime) {
  EXPECT_EQ(last<Hello>()->island, "B");
  hear(Ping{4, 77});
  const WallClock wall = kZero + 10'000'000'000;
  EXPECT_EQ(*last<Pong>(), (Pong{4, 77, wall, wall}));
}

TEST_F(MemberTest, TakesItsPartAndSaysWhenItIsReady) {
  hear(assignment());
  EXPECT_TRUE(prepared_);
  EXPECT_EQ(member_->state(), MemberState::kPreparing);
  EXPECT_EQ(member_->entry({2, Role::kEdge}).boot, 6u);
  member_->ready(now_, *this);
  EXPECT_NE(last<Ready>(), nullptr);
}

TEST_F(MemberTest, StartsOnItsOwnClockWhateverThatShows) {
  hear(assignment());
  member_->ready(now_, *this);
  const Instant there = now_ + milliseconds(2000);
  hear(Start{wall_of(there, kZero), {-500'000'000, 1000}});
  EXPECT_EQ(origin_, there - milliseconds(500));
  const RoundAssignment part = member_->part(2);
  EXPECT_EQ(part.spec.round, 2u);
  EXPECT_EQ(member_->job_assignment().start_of(1, member_->origin()), origin_);
}

TEST_F(MemberTest, RefusesAStartThatComesTooLate) {
  hear(assignment());
  member_->ready(now_, *this);
  hear(Start{wall_of(now_ - milliseconds(3), kZero), {0, 1000}});
  EXPECT_EQ(member_->state(), MemberState::kFailed);
  EXPECT_EQ(last<Refusal>()->reason,
            "round one began 3.0 ms before Start came; give it a longer lead");
}

TEST_F(MemberTest, RefusesAPlanThatIsNotWhatItClaims) {
  Assignment other = assignment();
  other.plan_text += " ";
  hear(other);
  EXPECT_THAT(last<Refusal>()->reason, HasSubstr("not the one it claims to be"));
  EXPECT_EQ(member_->state(), MemberState::kFailed);
}

TEST_F(MemberTest, RefusesSomebodyElsesPartAndAListOfOthers) {
  Assignment other = assignment();
  other.you = {0, Role::kIsland};
  hear(other);
  EXPECT_THAT(last<Refusal>()->reason, HasSubstr("somebody else's"));
}

TEST_F(MemberTest, RefusesAListThatLacksSomebody) {
  Assignment other = assignment();
  other.members.pop_back();
  hear(other);
  EXPECT_THAT(last<Refusal>()->reason, HasSubstr("list of members"));
}

TEST_F(MemberTest, PlaysTheRoundToItsEndWhenItIsToldTo) {
  begin();
  RoundReport report;
  report.round = 1;
  member_->report(now_, report, *this);
  hear(Stop{2, false, "asked to"});
  EXPECT_EQ(stop_, (std::pair<RoundId, std::string>{2, "asked to"}));
  EXPECT_EQ(member_->last_round(), 2u);
  report.round = 2;
  member_->report(now_, report, *this);
  EXPECT_EQ(last<RoundReport>()->round, 2u);
  member_->stopped(now_, *this);
  EXPECT_EQ(*last<Stopped>(), (Stopped{2, "asked to"}));
  EXPECT_EQ(member_->state(), MemberState::kDone);
}

TEST_F(MemberTest, StopsWhenTheCoordinatorIsSilentForTooLong) {
  begin();
  EXPECT_EQ(member_->next_deadline(), now_ + milliseconds(10'000));
  now_ = now_ + milliseconds(10'000);
  member_->on_time(now_, *this);
  EXPECT_EQ(member_->state(), MemberState::kFailed);
  EXPECT_EQ(member_->reason(), "the coordinator has been silent for 10 s while playing");
  EXPECT_EQ(stop_->first, 0u);
  EXPECT_EQ(member_->next_deadline(), kNever);
}

TEST_F(MemberTest, SaysWhatTheCoordinatorRefused) {
  hear(Refusal{"no island of the plan is called 'B'"});
  EXPECT_EQ(member_->reason(), "the coordinator refuses: no island of the plan is called 'B'");
  EXPECT_EQ(member_->state(), MemberState::kFailed);
}

TEST_F(MemberTest, SaysThatTheConnectionWasLostAndWhen) {
  begin();
  member_->on_lost(now_, "reset", *this);
  EXPECT_EQ(member_->reason(), "the connection to the coordinator is lost while playing: reset");
}

}  // namespace
}  // namespace cotillion
