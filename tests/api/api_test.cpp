// Training code in C: what cotillion_apply makes of a model, by hand and at an agent's region where
// corrections are those of the merge rule (protocol/merge_rule).
#include "api/cotillion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "exchange/agent_listener.hpp"
#include "exchange/exchange_agent.hpp"
#include "protocol/merge.hpp"

namespace cotillion {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kElements = 4;
using Values = std::vector<double>;

TEST(Apply, ScalesAndAddsWithinTheRunOfTheCorrection) {
  const std::vector<float> values = {1, 2, 3};
  cotillion_correction correction{};
  correction.first = 1;
  correction.count = values.size();
  correction.values = values.data();
  correction.scale = 0.25F;
  std::vector<float> model = {8, 8, 16, -4, 8};
  cotillion_apply(&correction, model.data());
  EXPECT_THAT(model, ElementsAre(8, 3, 6, 2, 8));
  correction.scale = 1;
  cotillion_apply(&correction, model.data());
  EXPECT_THAT(model, ElementsAre(8, 4, 8, 5, 8));
  correction.scale = 0;
  cotillion_apply(&correction, model.data());
  EXPECT_THAT(model, ElementsAre(8, 1, 2, 3, 8));
}

// An agent without a network: averages are what a test says they are.
class Agent {
 public:
  explicit Agent(double progress) : settings_{.progress = progress} {
    auto opened = AgentListener::open(path());
    if (!opened) ADD_FAILURE() << opened.error().message;
    listener_ = std::make_unique<AgentListener>(std::move(*opened));
    listening_ = std::thread([this] {
      while (!stopping_) {
        (void)listener_->look(&region_);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~Agent() {
    stopping_ = true;
    listening_.join();
  }
  Agent(const Agent&) = delete;

  static std::string path() {
    return std::filesystem::temp_directory_path() / ("cotillion-api-" + std::to_string(::getpid()));
  }

  // S: what leaves in this round.
  Values copy(RoundId round) {
    EXPECT_TRUE(agent_.take_hold(0));
    agent_.fly(0, round);
    const std::span<const float> copied = agent_.flying(0, round);
    Values values(copied.begin(), copied.end());
    agent_.let_go(0);
    return values;
  }
  // As daemon/island_merges does when the average has come.
  void merge(RoundId round, const Values& average, const Values& sent) {
    JobSpec job;
    job.elements = kElements;
    std::vector<float> correction(kElements, 0.0F);
    Merge(job, settings_).apply(0, correction, average, sent);
    ASSERT_TRUE(agent_.begin(0, round));
    agent_.scale(float(merge_coefficients(settings_, {}).model));
    agent_.add(0, correction);
    CorrectionAccount account;
    account.round = round;
    account.rounds = 1;
    agent_.end(account);
  }

 private:
  const MergeSettings settings_;
  ExchangeRegion region_ =
      std::move(*ExchangeRegion::make({kElements, {{0, kElements}}, {"TYO", "LON"}, 0}));
  ExchangeAgent agent_{region_, 0, 1};
  std::unique_ptr<AgentListener> listener_;
  std::atomic<bool> stopping_{false};
  std::thread listening_;
};

// A training loop without a gradient: learning is what a test says it is.
class Training {
 public:
  Training() {
    std::array<char, 200> why{};
    job_ = cotillion_join(Agent::path().c_str(), kElements, 30, why.data(), why.size());
    if (job_ == nullptr) ADD_FAILURE() << why.data();
    EXPECT_EQ(cotillion_offer(job_, &Training::copy_out, &model), COTILLION_OK);
  }
  ~Training() { cotillion_leave(job_); }
  Training(const Training&) = delete;

  void learn(float more) {
    for (float& x : model) x += more;
    EXPECT_EQ(cotillion_step(job_), COTILLION_OK) << cotillion_message(job_);
  }
  // How many rounds were in the correction that has come.
  std::uint32_t take() {
    cotillion_correction correction{};
    EXPECT_EQ(cotillion_poll(job_, &correction), COTILLION_OK) << cotillion_message(job_);
    cotillion_apply(&correction, model.data());
    cotillion_done(job_, &correction);
    return correction.rounds;
  }

  std::vector<float> model = {1, -2, 4, 0.5F};

 private:
  static void copy_out(void* user, std::uint64_t first, std::uint64_t count, float* values) {
    const auto& from = *static_cast<std::vector<float>*>(user);
    std::copy_n(from.begin() + std::ptrdiff_t(first), count, values);
  }
  cotillion_job* job_ = nullptr;
};

// In binary fractions, so that nothing is rounded: x ← A + p (x − S).
TEST(TrainingCode, KeepsTheShareOfItsProgressThatTheMergeRuleSays) {
  for (const double progress : {1.0, 0.75, 0.25, 0.0}) {
    Agent agent(progress);
    Training training;
    const Values sent = agent.copy(1), average = {3, 5, -1, 0.25};
    training.learn(0.5F);
    agent.merge(1, average, sent);
    EXPECT_EQ(training.take(), 1u);
    for (std::size_t i = 0; i < kElements; ++i)
      EXPECT_EQ(training.model[i], average[i] + progress * 0.5) << "p " << progress << ", " << i;
  }
}

TEST(TrainingCode, TakesTwoRoundsAtOnceAsItWouldOneAfterTheOther) {
  for (const double progress : {1.0, 0.5}) {
    Agent agent(progress);
    Training training;
    const Values first = agent.copy(1), average = {3, 5, -1, 0.25}, next = {2, -4, 1, 8};
    training.learn(0.5F);
    agent.merge(1, average, first);
    const Values second = agent.copy(2);
    EXPECT_EQ(second, average) << "what is pending is in the copy; what was learned is not";
    agent.merge(2, next, second);
    EXPECT_EQ(training.take(), 2u);
    for (std::size_t i = 0; i < kElements; ++i)
      EXPECT_EQ(training.model[i], next[i] + progress * progress * 0.5) << "p " << progress;
  }
}

}  // namespace
}  // namespace cotillion
