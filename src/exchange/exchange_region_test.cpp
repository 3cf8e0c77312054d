// The region between an agent and training code.
#include "exchange/exchange_region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "exchange/agent_listener.hpp"
#include "exchange/exchange_agent.hpp"
#include "exchange/exchange_client.hpp"

namespace cotillion {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Duration kSoon{50'000'000'000}, kLong{30'000'000'000'000};

RegionSpec spec() {
  return {6, {{0, 4}, {4, 2}}, {"TYO", "LON"}, 1};
}
CorrectionAccount of_round(RoundId round) {
  CorrectionAccount account;
  account.round = round;
  account.rounds = 1;
  account.members = 2;
  account.chunks = 4;
  return account;
}
// Lays a correction of `value` in every element down, in two pieces.
bool lay(ExchangeAgent& hands, int f, RoundId round, float value) {
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
  return std::filesystem::temp_directory_path() /
         ("cotillion-region-" + std::to_string(::getpid()));
}

// An agent's side: listens in a thread of its own until it is told to stop.
class Agent {
 public:
  explicit Agent(bool with_region = true) : region(std::move(*ExchangeRegion::make(spec()))) {
    auto opened = AgentListener::open(path());
    if (!opened) ADD_FAILURE() << opened.error().message;
    listener = std::make_unique<AgentListener>(std::move(*opened));
    thread_ = std::thread([this, with_region] {
      while (!stopping_) {
        (void)listener->look(with_region ? &region : nullptr);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~Agent() { stop(); }
  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    listener.reset();
  }

  ExchangeRegion region;
  ExchangeAgent hands{region, 0, 2};
  std::unique_ptr<AgentListener> listener;

 private:
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

void fill_with_ones(std::uint64_t, std::span<float> values) {
  std::fill(values.begin(), values.end(), 1.0F);
}

TEST(ExchangeRegion, ACopyHoldsCorrectionsThatNobodyTookYet) {
  Agent agent;
  auto training = ExchangeClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value()) << training.error().message;
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());
  ASSERT_TRUE(lay(agent.hands, 0, 1, 10));
  EXPECT_THAT(agent.region.copy(0), ElementsAre(11, 11, 11, 11));
  ASSERT_TRUE(lay(agent.hands, 0, 2, 100));  // both at once
  EXPECT_THAT(agent.region.copy(0), Each(111));
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());  // not wanted again: stays as it is
  EXPECT_THAT(agent.region.copy(0), Each(111));
  const auto next = training->poll();
  ASSERT_TRUE(next.has_value() && next->has_value());
  EXPECT_THAT((*next)->values, Each(110));
  EXPECT_EQ((*next)->account.round, 2u);
  EXPECT_EQ((*next)->account.rounds, 2u);
  EXPECT_FALSE(lay(agent.hands, 0, 3, 1));  // held
  training->done(**next);
  EXPECT_TRUE(lay(agent.hands, 0, 3, 1));
  EXPECT_THAT(agent.region.copy(0), Each(112));
  EXPECT_THAT(agent.region.pending(0), Each(1));
  EXPECT_THAT(agent.region.copy(1), Each(1));
}

TEST(ExchangeRegion, AnOfferOfAModelThatLacksACorrectionGetsIt) {
  Agent agent;
  auto training = ExchangeClient::join(path(), 0, kLong);
  ASSERT_TRUE(training.has_value());
  EXPECT_EQ(training->elements(), 6u);
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());
  ASSERT_TRUE(lay(agent.hands, 1, 1, 5));
  agent.region.fragment(1).wanted_ns = 1;  // long ago
  ASSERT_TRUE(training->step().has_value());
  EXPECT_EQ(agent.region.fragment(1).offers, 2u);
  EXPECT_EQ(agent.region.fragment(0).offers, 1u);
  EXPECT_THAT(agent.region.copy(1), Each(6));
}

TEST(ExchangeRegion, AWaitThatEndsSaysWhatItWaitedFor) {
  Agent agent;
  auto training = ExchangeClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  auto nothing = training->wait(kSoon);
  ASSERT_FALSE(nothing.has_value());
  EXPECT_THAT(nothing.error().message, HasSubstr("round one has not begun"));
  agent.region.words().round = 7;
  agent.region.words().late.write("LON lacks in 3 of 4 chunks from chunk 1 on");
  nothing = training->wait(kSoon);
  EXPECT_THAT(nothing.error().message, HasSubstr("no correction within"));
  EXPECT_THAT(nothing.error().message, HasSubstr("round 7 should have ended"));
  EXPECT_THAT(nothing.error().message, HasSubstr("LON lacks in 3 of 4 chunks from chunk 1 on"));
  agent.region.tell(ExchangeState::kFailed, "the sky fell");
  EXPECT_THAT(training->wait(kLong).error().message, HasSubstr("the sky fell"));
}

TEST(ExchangeRegion, AnAgentThatIsGoneIsNoticed) {
  Agent agent;
  auto training = ExchangeClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  agent.stop();
  EXPECT_THAT(training->wait(kLong).error().message, HasSubstr("the agent is gone in round 0"));
  EXPECT_FALSE(training->step().has_value());
}

TEST(ExchangeRegion, RefusesAModelOfAnotherSizeAndASecondGuest) {
  Agent agent;
  const auto wrong = ExchangeClient::join(path(), 7, kLong);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message,
              HasSubstr("the model has 7 elements, the plan's payload has 6"));
  const auto training = ExchangeClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  const auto second = ExchangeClient::join(path(), 6, kLong);
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().message, HasSubstr("is attached to this region already"));
  const auto other = AgentListener::open(path());
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("another agent has its region at"));
}

TEST(ExchangeRegion, NobodyWaitsForEver) {
  const auto nobody = ExchangeClient::join(path(), 6, kSoon);
  ASSERT_FALSE(nobody.has_value());
  EXPECT_THAT(nobody.error().message, HasSubstr("no agent has its region here after 50.0 ms"));
  Agent agent(false);
  const auto idle = ExchangeClient::join(path(), 6, kSoon);
  ASSERT_FALSE(idle.has_value());
  EXPECT_THAT(idle.error().message, HasSubstr("has been given no part in a job"));
}

TEST(ExchangeRegion, AListenerThatManyConnectToKeepsNobodyWaitingForEver) {
  auto listener = AgentListener::open(path());  // and nobody looks
  ASSERT_TRUE(listener.has_value()) << listener.error().message;
  std::vector<std::string> said;
  for (int i = 0; i < 12; ++i) {
    const auto client = ExchangeClient::join(path(), 6, Duration{5'000'000'000});
    ASSERT_FALSE(client.has_value());
    said.push_back(client.error().message);
  }
  EXPECT_THAT(said.front(), HasSubstr("has been given no part in a job"));
  EXPECT_THAT(said.back(), HasSubstr("no agent has its region here after"));
}

TEST(ExchangeRegion, AConnectionWithoutARequestMakesWay) {
  Agent agent;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path().copy(address.sun_path, sizeof address.sun_path - 1);
  const int mute = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  ASSERT_EQ(::connect(mute, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto training = ExchangeClient::join(path(), 6, kLong);
  EXPECT_TRUE(training.has_value()) << training.error().message;
  ::close(mute);
}

TEST(ExchangeRegion, SaysWhoseCorrectionWasNeverDone) {
  Agent agent;
  auto training = ExchangeClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());
  ASSERT_TRUE(lay(agent.hands, 1, 1, 5));
  ASSERT_TRUE(training->wait(kLong).has_value());
  agent.region.fragment(1).wanted_ns = 1;
  const auto stepped = training->step();
  ASSERT_FALSE(stepped.has_value());
  EXPECT_THAT(stepped.error().message,
              HasSubstr("the correction of fragment 1 was taken and never done()"));
}

TEST(ExchangeRegion, AStepGoesOnWhileTheAgentHoldsAFragment) {
  Agent agent;
  auto training = ExchangeClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());
  agent.region.fragment(0).wanted_ns = agent.region.fragment(1).wanted_ns = 1;
  ASSERT_TRUE(agent.region.try_hold(0, ExchangeRegion::Holder::kAgent));
  EXPECT_TRUE(training->step().has_value());
  EXPECT_EQ(agent.region.fragment(0).offers, 1u);  // the one that lies there will do
  EXPECT_EQ(agent.region.fragment(1).offers, 2u);
  agent.region.let_go(0);
  EXPECT_TRUE(training->step().has_value());
  EXPECT_EQ(agent.region.fragment(0).offers, 2u);
}

TEST(ExchangeRegion, AWaitOffersAFragmentThatIsOverdueOnceForEachStep) {
  Agent agent;
  auto training = ExchangeClient::join(path(), 6, kLong);
  ASSERT_TRUE(training.has_value());
  ASSERT_TRUE(training->offer(fill_with_ones).has_value());
  agent.region.fragment(0).wanted_ns = 1;
  ASSERT_TRUE(training->step().has_value());
  EXPECT_FALSE(training->wait(kSoon).has_value());
  EXPECT_EQ(agent.region.fragment(0).offers, 2u);
  ASSERT_TRUE(training->step().has_value());
  EXPECT_EQ(agent.region.fragment(0).offers, 3u);
}

TEST(ExchangeRegion, AnAgentGoesByItsOwnTableWhateverBecomesOfTheSharedOne) {
  Agent agent;
  agent.region.words().fragments = 1'000'000'000;
  agent.region.fragment(1).run = {1u << 30u, 1u << 30u};
  EXPECT_EQ(agent.region.fragments(), 2);
  agent.region.fragment(1).offers = 1;
  EXPECT_EQ(agent.region.pending(1).size(), 2u);
  ASSERT_TRUE(lay(agent.hands, 1, 1, 5));
  EXPECT_THAT(agent.region.pending(1), Each(5));
}

TEST(ExchangeRegion, IsNotOpenedFromAnythingElse) {
  EXPECT_FALSE(ExchangeRegion::open(::dup(STDIN_FILENO)).has_value());
  EXPECT_THAT(AgentListener::open(std::string(200, 'x')).error().message, HasSubstr("no path"));
}

TEST(ExchangeRegion, TrainingCodeThatKeepsTheClockChoosesItsFragments) {
  Agent agent;
  auto client = ExchangeClient::join(path(), 6, kLong);
  ASSERT_TRUE(client.has_value()) << client.error().message;
  const auto ones = [](std::uint64_t, std::span<float> values) {
    std::fill(values.begin(), values.end(), 1.0F);
  };
  ASSERT_TRUE(client->offer_fragment(1, ones).has_value());
  EXPECT_EQ(agent.region.fragment(0).offers, 0u);
  EXPECT_EQ(agent.region.fragment(1).offers, 1u);
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
  EXPECT_THAT(agent.region.copy(1), Each(4.0F));
  EXPECT_EQ(agent.region.fragment(1).offers, 1u);
  EXPECT_THAT(client->wait_for_copy(1, 2, kSoon).error().message,
              HasSubstr("the agent has not taken its copy of fragment 1 for round 2"));
  agent.region.fragment(1).copied = 2;
  EXPECT_TRUE(client->wait_for_copy(1, 2, kSoon).has_value());
  client->count_step();
  EXPECT_EQ(agent.region.words().steps, 1u);
}

}  // namespace
}  // namespace cotillion
