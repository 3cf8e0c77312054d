// The desk between an agent and training code.
#include "exchange/desk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "exchange/desk_agent.hpp"
#include "exchange/desk_client.hpp"
#include "exchange/desk_door.hpp"

namespace cotillion {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Duration kSoon{50'000'000'000}, kLong{30'000'000'000'000};

DeskSpec spec() {
  return {6, {{0, 4}, {4, 2}}, {"TYO", "LON"}, 1};
}
DeskAccount of_round(RoundId round) {
  DeskAccount account;
  account.round = round;
  account.rounds = 1;
  account.members = 2;
  account.chunks = 4;
  return account;
}
// Lays a correction of `value` in every element down, in two pieces.
bool lay(DeskAgent& hands, int f, RoundId round, float value) {
  if (!hands.take_hold(f)) return false;
  hands.fly(f, round);
  if (!hands.begin(f, round)) return false;
  const std::vector<float> piece(f == 0 ? 2 : 1, value);
  hands.add(0, piece);
  hands.add(piece.size(), piece);
  hands.end(of_round(round));
  return true;
}
std::string path() {
  return std::filesystem::temp_directory_path() / ("cotillion-desk-" + std::to_string(::getpid()));
}

// An agent's side: answers the door in a thread of its own until it is told to stop.
class Agent {
 public:
  explicit Agent(bool with_desk = true) : desk(std::move(*Desk::make(spec()))) {
    auto opened = DeskDoor::open(path());
    if (!opened) ADD_FAILURE() << opened.error().message;
    door = std::make_unique<DeskDoor>(std::move(*opened));
    thread_ = std::thread([this, with_desk] {
      while (!stopping_) {
        (void)door->look(with_desk ? &desk : nullptr);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~Agent() { stop(); }
  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    door.reset();
  }

  Desk desk;
  DeskAgent hands{desk, 0, 2};
  std::unique_ptr<DeskDoor> door;

 private:
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

void fill_with_ones(std::uint64_t, std::span<float> values) {
  std::fill(values.begin(), values.end(), 1.0F);
}

TEST(Desk, ACopyHoldsCorrectionsThatNobodyTookYet) {
  Agent agent;
  auto training = DeskClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value()) << training.error().message;
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());
  ASSERT_TRUE(lay(agent.hands, 0, 1, 10));
  EXPECT_THAT(agent.desk.copy(0), ElementsAre(11, 11, 11, 11));
  ASSERT_TRUE(lay(agent.hands, 0, 2, 100));  // both at once
  EXPECT_THAT(agent.desk.copy(0), Each(111));
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());  // not wanted again: stays as it is
  EXPECT_THAT(agent.desk.copy(0), Each(111));
  const auto next = training->poll();
  ASSERT_TRUE(next.has_value() && next->has_value());
  EXPECT_THAT((*next)->values, Each(110));
  EXPECT_EQ((*next)->account.round, 2u);
  EXPECT_EQ((*next)->account.rounds, 2u);
  EXPECT_FALSE(lay(agent.hands, 0, 3, 1));  // held
  training->done(**next);
  EXPECT_TRUE(lay(agent.hands, 0, 3, 1));
  EXPECT_THAT(agent.desk.copy(0), Each(112));
  EXPECT_THAT(agent.desk.tray(0), Each(1));
  EXPECT_THAT(agent.desk.copy(1), Each(1));
}

TEST(Desk, AnOfferOfAModelThatLacksACorrectionGetsIt) {
  Agent agent;
  auto training = DeskClient::join(path(), 0, kLong);
  ASSERT_TRUE(training.has_value());
  EXPECT_EQ(training->elements(), 6u);
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());
  ASSERT_TRUE(lay(agent.hands, 1, 1, 5));
  agent.desk.fragment(1).wanted_ns = 1;  // long ago
  ASSERT_TRUE(training->step().has_value());
  EXPECT_EQ(agent.desk.fragment(1).offers, 2u);
  EXPECT_EQ(agent.desk.fragment(0).offers, 1u);
  EXPECT_THAT(agent.desk.copy(1), Each(6));
}

TEST(Desk, AWaitThatEndsSaysWhatItWaitedFor) {
  Agent agent;
  auto training = DeskClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  auto nothing = training->wait(kSoon);
  ASSERT_FALSE(nothing.has_value());
  EXPECT_THAT(nothing.error().message, HasSubstr("round one has not begun"));
  agent.desk.words().round = 7;
  agent.desk.words().late.write("LON lacks in 3 of 4 chunks from chunk 1 on");
  nothing = training->wait(kSoon);
  EXPECT_THAT(nothing.error().message, HasSubstr("no correction within"));
  EXPECT_THAT(nothing.error().message, HasSubstr("round 7 should have ended"));
  EXPECT_THAT(nothing.error().message, HasSubstr("LON lacks in 3 of 4 chunks from chunk 1 on"));
  agent.desk.tell(DeskStage::kFailed, "the sky fell");
  EXPECT_THAT(training->wait(kLong).error().message, HasSubstr("the sky fell"));
}

TEST(Desk, AnAgentThatIsGoneIsNoticed) {
  Agent agent;
  auto training = DeskClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  agent.stop();
  EXPECT_THAT(training->wait(kLong).error().message, HasSubstr("the agent is gone in round 0"));
  EXPECT_FALSE(training->step().has_value());
}

TEST(Desk, RefusesAModelOfAnotherSizeAndASecondGuest) {
  Agent agent;
  const auto wrong = DeskClient::join(path(), 7, kLong);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message,
              HasSubstr("the model has 7 elements, the plan's payload has 6"));
  const auto training = DeskClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  const auto second = DeskClient::join(path(), 6, kLong);
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().message, HasSubstr("sits at this desk already"));
  const auto other = DeskDoor::open(path());
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("another agent has its desk at"));
}

TEST(Desk, NobodyWaitsForEver) {
  const auto nobody = DeskClient::join(path(), 6, kSoon);
  ASSERT_FALSE(nobody.has_value());
  EXPECT_THAT(nobody.error().message, HasSubstr("no agent has its desk here after 50.0 ms"));
  Agent agent(false);
  const auto idle = DeskClient::join(path(), 6, kSoon);
  ASSERT_FALSE(idle.has_value());
  EXPECT_THAT(idle.error().message, HasSubstr("has been given no part in a job"));
}

TEST(Desk, ADoorThatManyKnockAtKeepsNobodyWaitingForEver) {
  auto door = DeskDoor::open(path());  // and nobody looks
  ASSERT_TRUE(door.has_value()) << door.error().message;
  std::vector<std::string> said;
  for (int i = 0; i < 12; ++i) {
    const auto guest = DeskClient::join(path(), 6, Duration{5'000'000'000});
    ASSERT_FALSE(guest.has_value());
    said.push_back(guest.error().message);
  }
  EXPECT_THAT(said.front(), HasSubstr("has been given no part in a job"));
  EXPECT_THAT(said.back(), HasSubstr("no agent has its desk here after"));
}

TEST(Desk, WhoeverComesAndSaysNothingGivesUpItsPlace) {
  Agent agent;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path().copy(address.sun_path, sizeof address.sun_path - 1);
  const int mute = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  ASSERT_EQ(::connect(mute, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto training = DeskClient::join(path(), 6, kLong);
  EXPECT_TRUE(training.has_value()) << training.error().message;
  ::close(mute);
}

TEST(Desk, SaysWhoseCorrectionWasNeverDone) {
  Agent agent;
  auto training = DeskClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());
  ASSERT_TRUE(lay(agent.hands, 1, 1, 5));
  ASSERT_TRUE(training->wait(kLong).has_value());
  agent.desk.fragment(1).wanted_ns = 1;
  const auto stepped = training->step();
  ASSERT_FALSE(stepped.has_value());
  EXPECT_THAT(stepped.error().message,
              HasSubstr("the correction of fragment 1 was taken and never done()"));
}

TEST(Desk, AStepGoesOnWhileTheAgentHoldsAFragment) {
  Agent agent;
  auto training = DeskClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());
  agent.desk.fragment(0).wanted_ns = agent.desk.fragment(1).wanted_ns = 1;
  ASSERT_TRUE(agent.desk.try_hold(0, Desk::Holder::kAgent));
  EXPECT_TRUE(training->step().has_value());
  EXPECT_EQ(agent.desk.fragment(0).offers, 1u);  // the one that lies there will do
  EXPECT_EQ(agent.desk.fragment(1).offers, 2u);
  agent.desk.let_go(0);
  EXPECT_TRUE(training->step().has_value());
  EXPECT_EQ(agent.desk.fragment(0).offers, 2u);
}

TEST(Desk, AWaitOffersAFragmentThatIsOverdueOnceForEachStep) {
  Agent agent;
  auto training = DeskClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());
  agent.desk.fragment(0).wanted_ns = 1;
  ASSERT_TRUE(training->step().has_value());
  EXPECT_FALSE(training->wait(kSoon).has_value());
  EXPECT_EQ(agent.desk.fragment(0).offers, 2u);
  ASSERT_TRUE(training->step().has_value());
  EXPECT_EQ(agent.desk.fragment(0).offers, 3u);
}

TEST(Desk, AnAgentGoesByItsOwnTableWhateverBecomesOfTheSharedOne) {
  Agent agent;
  agent.desk.words().fragments = 1'000'000'000;
  agent.desk.fragment(1).run = {1u << 30u, 1u << 30u};
  EXPECT_EQ(agent.desk.fragments(), 2);
  agent.desk.fragment(1).offers = 1;
  EXPECT_EQ(agent.desk.tray(1).size(), 2u);
  ASSERT_TRUE(lay(agent.hands, 1, 1, 5));
  EXPECT_THAT(agent.desk.tray(1), Each(5));
}

TEST(Desk, IsNotOpenedFromAnythingElse) {
  EXPECT_FALSE(Desk::open(::dup(STDIN_FILENO)).has_value());
  EXPECT_THAT(DeskDoor::open(std::string(200, 'x')).error().message, HasSubstr("no path"));
}

TEST(Desk, TrainingCodeThatKeepsTheClockChoosesItsFragments) {
  Agent agent;
  auto client = DeskClient::join(path(), 6, kLong);
  ASSERT_TRUE(client.has_value()) << client.error().message;
  const auto ones = [](std::uint64_t, std::span<float> values) {
    std::fill(values.begin(), values.end(), 1.0F);
  };
  ASSERT_TRUE(client->offer_fragment(1, ones).has_value());
  EXPECT_EQ(agent.desk.fragment(0).offers, 0u);
  EXPECT_EQ(agent.desk.fragment(1).offers, 1u);
  ASSERT_TRUE(client->offer_fragment(0, ones).has_value());
  ASSERT_TRUE(lay(agent.hands, 0, 1, 5));
  // The other fragment's correction is not what it waits for, and the copy is not renewed
  // meanwhile.
  const auto late = client->wait_for(1, kSoon);
  ASSERT_FALSE(late.has_value());
  EXPECT_THAT(late.error().message, HasSubstr("no correction within"));
  ASSERT_TRUE(lay(agent.hands, 1, 1, 3));
  const auto mine = client->wait_for(1, kLong);
  ASSERT_TRUE(mine.has_value()) << mine.error().message;
  EXPECT_THAT(mine->values, Each(3.0F));
  EXPECT_EQ(mine->account.round, 1u);
  client->done(*mine);
  EXPECT_THAT(agent.desk.copy(1), Each(4.0F));
  EXPECT_EQ(agent.desk.fragment(1).offers, 1u);
  EXPECT_THAT(client->wait_for_copy(1, 2, kSoon).error().message,
              HasSubstr("the agent has not taken its copy of fragment 1 for round 2"));
  agent.desk.fragment(1).copied = 2;
  EXPECT_TRUE(client->wait_for_copy(1, 2, kSoon).has_value());
  client->count_step();
  EXPECT_EQ(agent.desk.words().steps, 1u);
}

}  // namespace
}  // namespace cotillion
