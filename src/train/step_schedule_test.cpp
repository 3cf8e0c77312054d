// Every rival on two or three islands whose models are one number each, against arithmetic that
// was done by hand.
#include "policy/step_schedule.hpp"

#include <gtest/gtest.h>

#include "tests/support/train/step_schedule_play.hpp"

namespace cotillion {
namespace {

using namespace testing;

TEST(StepSchedule, SynchronousAveragesGradientsAndWaits) {
  SynchronousRecipe recipe;
  recipe.exchange = 0.4;
  Play play(recipe_of(recipe, 2), {1, 3});
  play.step(2);
  EXPECT_EQ(play.x(0), 4);
  EXPECT_EQ(play.x(1), 4);
  EXPECT_DOUBLE_EQ(play.schedule().time_after(2), 1.0);
}

TEST(StepSchedule, LocalStepsAreAveragedEveryFewAndEverybodyWaits) {
  OuterRecipe recipe;
  recipe.steps = 2;
  recipe.exchange = 0.4;
  Play play(recipe_of(recipe, 2), {1, 3});
  play.step();
  EXPECT_EQ(play.x(1), 3);
  EXPECT_DOUBLE_EQ(play.schedule().time_after(1), 0.1);
  play.step();
  EXPECT_EQ(play.x(0), 4);
  EXPECT_EQ(play.x(1), 4);
  EXPECT_DOUBLE_EQ(play.schedule().time_after(2), 0.6);
}

TEST(StepSchedule, DiLoCoTakesANesterovStepFromWhereItWas) {
  OuterRecipe recipe;
  recipe.steps = 1;
  recipe.nesterov = true;
  recipe.outer_rate = 0.5;
  recipe.momentum = 0.5;
  Play play(recipe_of(recipe, 2), {1, 3});
  play.step();  // g = 0 − 2, v = −2, θ = 0 + 0.5·(2 + 1)
  EXPECT_EQ(play.x(0), 1.5);
  play.step();  // g = 1.5 − 3.5, v = −1 − 2, θ = 1.5 + 0.5·(2 + 1.5)
  EXPECT_EQ(play.x(0), 3.25);
  EXPECT_EQ(play.x(1), 3.25);
}

TEST(StepSchedule, StreamingDiLoCoMergesFragmentsAfterTheirFlight) {
  StreamingRecipe recipe;
  recipe.steps = 2;
  recipe.fragments = 2;
  recipe.overlap = 1;
  recipe.keep = 0.5;
  Play play(recipe_of(recipe, 2), {1, 3}, 2);
  play.step();  // the second fragment is copied: θ − x is (−1, −3)
  EXPECT_EQ(play.x(0, 1), 1);
  play.step();  // θ = 2; x = (2 + 2)/2 and (6 + 2)/2. The first is copied: (−2, −6)
  EXPECT_EQ(play.x(0, 1), 2);
  EXPECT_EQ(play.x(1, 1), 4);
  EXPECT_EQ(play.x(0, 0), 2);
  play.step();  // θ = 4; x = (3 + 4)/2 and (9 + 4)/2
  EXPECT_EQ(play.x(0, 0), 3.5);
  EXPECT_EQ(play.x(1, 0), 6.5);
  EXPECT_DOUBLE_EQ(play.schedule().time_after(2), 0.2);
}

TEST(StepSchedule, FragmentsOfStreamingDiLoCoThatLeaveTogetherPassOneAfterTheOther) {
  StreamingRecipe recipe;
  recipe.steps = 4;
  recipe.fragments = 8;
  recipe.latency = 0.06;
  recipe.serialisation = 0.32;
  recipe.overlap = 2;
  // Two leave after each step; 60 + 40 ms is a step, 60 + 80 ms are two.
  const ClockSummary account = make_step_schedule(recipe_of(recipe, 2))->account();
  EXPECT_NEAR(account.delay_mean, 0.15, 1e-12);
  EXPECT_NEAR(account.delay_max, 0.2, 1e-12);
  EXPECT_NEAR(account.cycle, 0.4, 1e-12);
  const auto copies = [&](std::int64_t steps) {
    int count = 0;
    for (const VectorMove& move : make_step_schedule(recipe_of(recipe, 2))->after(steps))
      count += move.into == Buffer::kSentEven || move.into == Buffer::kSentOdd;
    return count;
  };
  for (std::int64_t steps = 1; steps < 20; ++steps) EXPECT_EQ(copies(steps), 2) << steps;
}

TEST(StepSchedule, EagerDiLoCoIsFreshAboutItselfAndLateAboutOthers) {
  EagerRecipe recipe;
  recipe.steps = 1;
  recipe.exchange = 0.25;
  Play play(recipe_of(recipe, 2), {2, 6});
  play.step();  // only half of one's own: (1, 3)
  EXPECT_EQ(play.x(0), 1);
  EXPECT_EQ(play.x(1), 3);
  play.step();  // and half of the other's last: 1 + 1 + 3, 3 + 3 + 1
  EXPECT_EQ(play.x(0), 5);
  EXPECT_EQ(play.x(1), 7);
  EXPECT_DOUBLE_EQ(play.schedule().time_after(2), 0.5);
}

TEST(StepSchedule, NoLoCoPullsAPairTogether) {
  PairsRecipe recipe;
  recipe.steps = 1;
  recipe.outer_rate = 0.5;
  recipe.momentum = 0.5;
  recipe.pull = 1;
  recipe.rounds = {round_of({0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, 0.3, 3)};
  Play play(recipe_of(recipe, 3), {2, 6, 4});
  play.start_from({0, 4, 1});
  // v = 0.5·4 − (0 − 2), θ = 0 + 4; v = 0.5·4 − 2, θ = 4 + 0; alone v = 0.5·4, θ = 3.
  play.step();
  EXPECT_EQ(play.x(0), 4);
  EXPECT_EQ(play.x(1), 4);
  EXPECT_EQ(play.x(2), 3);
  EXPECT_DOUBLE_EQ(play.schedule().time_after(1), 0.4);
}

TEST(StepSchedule, DPsgdMixesWhatIslandsHadWhenTheStepBegan) {
  GossipRecipe recipe;
  recipe.steps = 1;
  recipe.rounds = {round_of({0.75, 0.25, 0.25, 0.75}, 0.3, 2)};
  Play play(recipe_of(recipe, 2), {1, 3});
  play.start_from({0, 8});
  play.step();  // W x + update: 2 + 1, 6 + 3
  EXPECT_EQ(play.x(0), 3);
  EXPECT_EQ(play.x(1), 9);
  EXPECT_DOUBLE_EQ(play.schedule().time_after(1), 0.3);
}

TEST(StepSchedule, RegionsAverageOftenAndTheGlobalServerPullsThemLater) {
  ServersRecipe recipe;
  recipe.steps = 1;
  recipe.every = 2;
  recipe.overlap = 1;
  recipe.outer_rate = 1;
  recipe.momentum = 0.5;
  recipe.server_weight = 0.5;
  recipe.exchange = 0.05;
  recipe.rounds = {round_of({0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, 0.05, 3)};
  Play play(recipe_of(recipe, 3), {1, 3, 8});
  play.step();
  EXPECT_EQ(play.x(0), 2);
  EXPECT_EQ(play.x(1), 2);
  EXPECT_EQ(play.x(2), 8);
  play.step();  // regions send 4, 4, 16
  EXPECT_EQ(play.x(2), 16);
  // The mean is 8 and momentum 4: the global model is 12; regions at 6 and 24 go halfway.
  play.step();
  EXPECT_EQ(play.x(0), 9);
  EXPECT_EQ(play.x(2), 18);
  EXPECT_NEAR(play.schedule().time_after(3), 0.45, 1e-12);
}

}  // namespace
}  // namespace cotillion
