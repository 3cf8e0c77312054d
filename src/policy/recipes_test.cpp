#include "policy/recipes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "policy/recipe_file.hpp"
#include "policy/rotation_clock.hpp"
#include "policy/step_schedule.hpp"
#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;

PlanFile paper_plan(const std::string& schedule) {
  PlanFile plan = testing::nine_city_plan(schedule, Bytes{32'000'000'000}, Bytes{1'000'000'000});
  plan.plan.settings.step_time = RealDuration::from_ps(169e9);
  return plan;
}

Recipe recipe(const PlanFile& plan, const std::string& policy) {
  auto made = recipe_for(plan, policy, {});
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
  return made ? *made : Recipe{};
}

template <class Kind>
Kind made(const PlanFile& plan, const std::string& policy) {
  return std::get<Kind>(recipe(plan, policy).kind);
}

std::string refusal(const PlanFile& plan, const std::string& policy) {
  const auto made = recipe_for(plan, policy, {});
  EXPECT_FALSE(made.has_value()) << policy;
  return made ? "" : made.error().message;
}

TEST(Recipes, APlanIsItsRoundsOnItsClock) {
  const PlanFile plan = paper_plan("triangles");
  const Recipe whole = recipe(plan, "plan");
  const auto rounds = rounds_of(whole);
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_NEAR(rounds[0].length, 0.5142, 1e-4);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(rounds[0].leaves[std::size_t(i)], 0);
    EXPECT_EQ(rounds[0].arrives[std::size_t(i)], rounds[0].length);
    double row = 0;
    for (int j = 0; j < 9; ++j) row += rounds[0].mixing[std::size_t(i) * 9 + std::size_t(j)];
    EXPECT_NEAR(row, 1, 1e-12);
  }
  EXPECT_NEAR(whole.staleness[0].second, 1157.0, 0.1);
}

TEST(Recipes, FragmentsAreInFlightForThePlannedDelayAtMost) {
  const PlanFile plan = paper_plan("all-to-all");
  const Recipe streamed = recipe(plan, "plan:fragments=8");
  const RecipeRound& round = rounds_of(streamed)[0];
  double longest = 0;
  for (std::size_t at = 0; at < round.leaves.size(); ++at)
    longest = std::max(longest, round.arrives[at] - round.leaves[at]);
  EXPECT_NEAR(longest, plan.plan.streamed_delay.seconds(), 1e-3);
  EXPECT_LE(round.arrives.back(), round.length + 1e-12);
  // And on the clock of steps, a wait at either end more.
  const ClockSummary account = make_step_schedule(streamed)->account();
  EXPECT_LE(account.delay_max, longest + 2 * 0.169 + 1e-9);
  EXPECT_GE(account.delay_mean, longest / 2);
}

TEST(Recipes, WeightsOfIslandsConserveTheWeightedMean) {
  RecipeSettings settings;
  settings.shares = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto made = recipe_for(paper_plan("triangles"), "plan", settings);
  ASSERT_TRUE(made.has_value());
  for (const RecipeRound& round : rounds_of(*made))
    for (int j = 0; j < 9; ++j) {
      double column = 0;
      for (int i = 0; i < 9; ++i)
        column += made->shares[std::size_t(i)] * round.mixing[std::size_t(i) * 9 + std::size_t(j)];
      EXPECT_NEAR(column, made->shares[std::size_t(j)], 1e-12);
    }
}

TEST(Recipes, RivalsRunOnTheMapsOwnPrices) {
  const PlanFile plan = paper_plan("triangles");
  // docs/understand/model.md: butterfly 943.5 ms, the best ring 1182.6 ms, all-to-all with hardware
  // 676.2 ms.
  EXPECT_NEAR(made<SynchronousRecipe>(plan, "synchronous").exchange, 0.9435, 2e-4);
  EXPECT_NEAR(made<SynchronousRecipe>(plan, "synchronous:network=ring").exchange, 1.1826, 2e-4);
  EXPECT_NEAR(made<SynchronousRecipe>(plan, "synchronous:network=hardware").exchange, 0.6762, 1e-4);
  EXPECT_EQ(made<SynchronousRecipe>(plan, "synchronous:network=free").exchange, 0);
  EXPECT_NEAR(make_step_schedule(recipe(plan, "local-sgd:steps=8"))->time_after(16),
              16 * 0.169 + 2 * 0.9435, 1e-3);
  const auto streaming = made<StreamingRecipe>(plan, "streaming-diloco:network=hardware");
  EXPECT_LE(streaming.overlap, streaming.steps);
  EXPECT_EQ(streaming.steps, 4);  // 560 ms of payload at 14.29 Gbps
  // Two of eight fragments leave together: 116 + 2·70 ms.
  EXPECT_EQ(streaming.overlap, 2);
  EXPECT_NEAR(streaming.latency, 0.1162, 2e-4);
  const auto peers = made<RotationRecipe>(plan, "one-peer");
  EXPECT_EQ(peers.rounds.size(), 4u);
  double slowest = 0;
  for (const RecipeRound& round : peers.rounds) slowest = std::max(slowest, round.length);
  EXPECT_NEAR(slowest, 0.5031, 2e-4);
}

// Three islands, jumps of one and two: each hears one neighbour on the ring, then the other. Row i
// of the product is (first_i + first_{i+1}) / 2: half of itself and a quarter of either.
TEST(Recipes, OnePeerExponentialOfThreeIslandsByHand) {
  PlanFile plan = testing::plan_file(testing::example_map("isosceles"), "pairs");
  plan.plan.settings.step_time = RealDuration::from_ps(169e9);
  const auto peers = made<RotationRecipe>(plan, "one-peer");
  ASSERT_EQ(peers.rounds.size(), 2u);
  const std::vector<double>& first = peers.rounds[0].mixing;
  const std::vector<double>& second = peers.rounds[1].mixing;
  std::vector<double> both(9, 0.0);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(first[i * 3 + j] + second[i * 3 + j], i == j ? 1.0 : 0.5)
          << "of each of the others half of its weight, in one of the two rounds";
      EXPECT_TRUE(first[i * 3 + j] == 0.5 || first[i * 3 + j] == 0.0);
      for (std::size_t k = 0; k < 3; ++k) both[i * 3 + j] += second[i * 3 + k] * first[k * 3 + j];
    }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(both[i * 3 + j], i == j ? 0.5 : 0.25);
}

TEST(Recipes, WhatIsSentHasItsPrice) {
  const PlanFile plan = paper_plan("triangles");  // 400 ms of payload, 114.2 ms of flight
  const auto round = [&](const std::string& policy) {
    return rounds_of(recipe(plan, "plan:fragments=8," + policy))[0].length;
  };
  EXPECT_NEAR(round("wire=i32"), 0.5142, 1e-4);
  EXPECT_NEAR(round("wire=bf16"), 0.3142, 1e-4);
  EXPECT_NEAR(round("wire=bf16,payload=1"), 0.5142, 1e-4);
  EXPECT_NEAR(round("moments=second,moments-every=8"), 0.5642, 1e-4);
  EXPECT_NEAR(round("moments=both,moments-every=1"), 1.3142, 1e-4);
  EXPECT_NEAR(round("moments=both,moments-every=1,wire=bf16"), 0.7142, 1e-4);
  EXPECT_THAT(recipe(plan, "plan:fragments=8,moments=second,moments-every=8").name,
              HasSubstr("v every 8 rounds, payload × 1.12"));
  EXPECT_THAT(refusal(plan, "plan:fragments=8,moments=both,moments-every=3"),
              HasSubstr("not as many travel"));
  EXPECT_THAT(refusal(plan, "synchronous:wire=bf16"), HasSubstr("wire="));
  EXPECT_THAT(refusal(plan, "diloco:moments=both"), HasSubstr("moments="));
}

TEST(Recipes, CloseRoundsFollowWhenTheBytesHaveLeft) {
  const PlanFile plan = paper_plan("triangles");  // 400 ms of payload, 114.2 ms of flight
  const Recipe apart = recipe(plan, "plan:fragments=8");
  const Recipe close = recipe(plan, "plan:fragments=8,rounds=close,progress=0.5");
  EXPECT_THAT(close.name, HasSubstr("close, streamed 8, progress 0.5"));
  EXPECT_EQ(rotation_of(close).progress, 0.5);
  const auto near = rounds_of(close), far = rounds_of(apart);
  EXPECT_NEAR(close.egress, apart.egress * 0.5142 / 0.4, apart.egress * 1e-3);
  EXPECT_LT(close.staleness[1].second, apart.staleness[1].second);
  double latest = 0;
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_NEAR(near[r].length, 0.4, 1e-9);
    EXPECT_EQ(near[r].mixing, far[r].mixing);
    EXPECT_EQ(near[r].leaves, far[r].leaves);
    // Sums come in one after the other: each island's as late as its later round's.
    for (std::size_t at = 0; at < near[r].arrives.size(); ++at) {
      EXPECT_NEAR(near[r].arrives[at], std::max(far[0].arrives[at], far[1].arrives[at]), 1e-9);
      latest = std::max(latest, near[r].arrives[at]);
    }
  }
  EXPECT_NEAR(latest, 0.5142, 1e-4);
  // Nine islands in pairs: one rests.
  EXPECT_NEAR(rounds_of(recipe(plan, "pairs:fragments=8,rounds=close"))[0].length, 0.4, 1e-9);
  // One round again and again: only its latency goes.
  EXPECT_NEAR(rounds_of(recipe(plan, "all-to-all:fragments=8,rounds=close"))[0].length, 0.56, 1e-4);
  const auto read = read_recipes(Json{{"recipes", {to_json(close)}}}.dump());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(to_json((*read)[0]), to_json(close));
}

TEST(Recipes, CloseRoundsAreRefusedWhereTwoRoundsDoNotFit) {
  const PlanFile plan = paper_plan("triangles");
  EXPECT_THAT(refusal(plan, "plan:rounds=close"), HasSubstr("whole copies"));
  EXPECT_THAT(refusal(plan, "plan:fragments=8,rounds=close,payload=0.1"), HasSubstr("flights"));
  const PlanFile small =
      testing::nine_city_plan("triangles", Bytes{500'000'000}, Bytes{1'000'000'000});
  RecipeSettings settings;
  settings.step_time = 0.169;
  const auto made = recipe_for(small, "plan:fragments=8,rounds=close", settings);
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("two payloads"));
  // Links that one round fills.
  PlanFile narrow = paper_plan("triangles");
  for (Link& link : narrow.map.links)
    for (BitsPerSecond& rate : link.rate) rate = {40e9};
  const PlanFile tight = testing::plan_file(narrow.map, "triangles");
  const auto crowded = recipe_for(tight, "plan:fragments=8,rounds=close", settings);
  ASSERT_FALSE(crowded.has_value());
  EXPECT_THAT(crowded.error().message, HasSubstr("at once"));
}

TEST(Recipes, EveryNameMakesARecipeThatCanBeCarriedInAFile) {
  const PlanFile plan = paper_plan("all-to-all");
  Json file = {{"recipes", Json::array()}};
  std::vector<Recipe> made;
  for (const PolicyName& policy : policy_names()) {
    made.push_back(recipe(plan, policy.name));
    file["recipes"].push_back(to_json(made.back()));
  }
  const auto read = read_recipes(file.dump());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->size(), made.size());
  for (std::size_t r = 0; r < made.size(); ++r) {
    EXPECT_EQ(to_json((*read)[r]), to_json(made[r]));
    const auto schedule = make_step_schedule((*read)[r]);
    EXPECT_GT(schedule->account().cycle, 0) << made[r].name;
    EXPECT_GE(schedule->time_after(100), 100 * 0.169 - 1e-9) << made[r].name;
    for (std::int64_t step = 0; step < 100; ++step) {
      EXPECT_LE(schedule->time_after(step), schedule->time_after(step + 1)) << made[r].name;
      for (const VectorMove& move : schedule->after(step)) EXPECT_FALSE(move.islands.empty());
    }
  }
}

TEST(Recipes, EveryFileHasEveryFieldWhateverItsKind) {
  const PlanFile plan = paper_plan("all-to-all");
  const Json rotation = to_json(recipe(plan, "plan"));
  for (const PolicyName& policy : policy_names()) {
    const Json json = to_json(recipe(plan, policy.name));
    for (const auto& [key, value] : rotation.items())
      EXPECT_TRUE(key == "rounds" || json.contains(key)) << policy.name << ": " << key;
  }
  // What a kind does not have is written as what changes nothing, and read with the same care.
  const auto reason = [](Json json) {
    return read_recipes(Json{{"recipes", {std::move(json)}}}.dump()).error().message;
  };
  Json outer = to_json(recipe(plan, "diloco"));
  EXPECT_EQ(outer["own_weight"].dump(), "1.0");
  EXPECT_EQ(outer["nesterov"], true);
  outer["own_weight"] = 5;
  EXPECT_THAT(reason(outer), HasSubstr("own_weight: a number from"));
  Json other = rotation;
  other["kind"] = "spiral";
  EXPECT_THAT(reason(other), HasSubstr("no kind is called 'spiral'"));
  other = rotation;
  other["wire"] = "f8";
  EXPECT_THAT(reason(other), HasSubstr("no wire format is called 'f8'"));
}

TEST(Recipes, RoundsAreAStepOrLonger) {
  PlanFile plan = paper_plan("pairs");
  const double planned = plan.plan.rounds[0].length.seconds();
  // Read from a file: longer than its settings tell, as with whole steps.
  for (PlannedRound& round : plan.plan.rounds)
    round.length = round.length + RealDuration::from_ps(0.1 * kPicosecondsPerSecond);
  RecipeSettings settings;
  for (const double step : {planned / 2, planned + 0.05, planned + 0.3, 2 * planned}) {
    settings.step_time = step;
    for (const char* policy : {"plan", "plan:wire=bf16", "triangles:fragments=8", "one-peer"}) {
      const auto made = recipe_for(plan, policy, settings);
      ASSERT_TRUE(made.has_value()) << made.error().message;
      for (const RecipeRound& round : rounds_of(*made))
        EXPECT_TRUE(is_a_step(round, step)) << policy << ' ' << round.length << ' ' << step;
    }
  }
  settings.step_time = 2 * planned;
  const auto close = recipe_for(plan, "plan:fragments=8,rounds=close", settings);
  ASSERT_FALSE(close.has_value());
  EXPECT_THAT(close.error().message, HasSubstr("shorter than a step"));
}

TEST(Recipes, ASettingThatWouldChangeNothingIsRefused) {
  const PlanFile plan = paper_plan("triangles");
  EXPECT_EQ(refusal(plan, "plan:at=receiver"),
            "policy plan: at=receiver: there is no momentum; give momentum= above 0 too, or leave "
            "at= out");
  EXPECT_THAT(refusal(plan, "plan:momentum=0,at=sender"), HasSubstr("at=sender: there is no"));
  EXPECT_THAT(refusal(plan, "plan:at=nowhere"), HasSubstr("one of everyone"));
  EXPECT_THAT(refusal(plan, "plan:momentum=x,at=sender"), HasSubstr("momentum=x"));
  EXPECT_THAT(refusal(plan, "plan:fragments=8,moments-every=4"),
              HasSubstr("moments-every=4: no moments travel; give moments=second"));
  EXPECT_THAT(refusal(plan, "plan:fragments=8,moments=none,moments-every=1"),
              HasSubstr("moments-every=1: no moments"));
  EXPECT_THAT(refusal(plan, "diloco:moments-every=4"), HasSubstr("under this policy"));
  EXPECT_THAT(refusal(plan, "plan:learning-rate=0"),
              HasSubstr("learning-rate=0: nothing would be learned; give one above 0"));
  EXPECT_THAT(refusal(plan, "diloco:learning-rate=0"), HasSubstr("learning-rate=0: nothing"));
}

TEST(Recipes, AnOuterOptimizerThatNeverStepsIsRefused) {
  const PlanFile plan = paper_plan("all-to-all");
  for (const char* policy : {"diloco:rate=0", "streaming-diloco:rate=0", "eager-diloco:rate=0",
                             "noloco:rate=0", "halos:rate=0"})
    EXPECT_THAT(refusal(plan, policy), HasSubstr("rate=0: nothing would be learned")) << policy;
}

TEST(Recipes, WeightsAreRefusedWhereAveragesWouldNotConserveTheWeightedMean) {
  const PlanFile plan = paper_plan("all-to-all");
  RecipeSettings settings;
  settings.shares = {2, 1, 1, 1, 1, 1, 1, 1, 1};
  for (const char* policy : {"plan", "triangles:fragments=8", "synchronous", "local-sgd", "diloco",
                             "streaming-diloco", "eager-diloco"})
    EXPECT_TRUE(recipe_for(plan, policy, settings).has_value()) << policy;
  for (const char* policy :
       {"d-psgd", "one-peer", "base", "matcha", "random-pairs", "noloco", "halos"}) {
    const auto made = recipe_for(plan, policy, settings);
    ASSERT_FALSE(made.has_value()) << policy;
    EXPECT_THAT(made.error().message, HasSubstr("would not conserve the weighted mean")) << policy;
  }
}

TEST(Recipes, AStepThatNoFileCouldHoldIsRefused) {
  RecipeSettings settings;
  for (const double step : {1e-9, 1e12}) {
    settings.step_time = step;
    EXPECT_THAT(recipe_for(paper_plan("triangles"), "plan", settings).error().message,
                HasSubstr("a step takes from"));
  }
}

TEST(Recipes, RowsOfAFileAddUpToOne) {
  Json file = {{"recipes", {to_json(recipe(paper_plan("triangles"), "plan"))}}};
  Json& weight = file["recipes"][0]["rounds"][1]["mixing"][9 + 1];
  weight = weight.get<double>() + 0.25;
  const auto read = read_recipes(file.dump());
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().message, HasSubstr("mixing: the row of HKG does not add up to 1"));
}

TEST(Recipes, RefusalsSayWhy) {
  const PlanFile plan = paper_plan("triangles");
  EXPECT_THAT(refusal(plan, "plan:momentum=0.9,at=receiver"), HasSubstr("does not converge"));
  EXPECT_THAT(refusal(plan, "plan:momentum=0.9,at=everyone"), HasSubstr("has none"));
  EXPECT_THAT(refusal(plan, "plan:speed=3"), HasSubstr("no setting 'speed'"));
  EXPECT_THAT(refusal(plan, "plan:own-weight=2"), HasSubstr("own-weight=2"));
  EXPECT_THAT(refusal(plan, "plan:progress=1.5"), HasSubstr("progress=1.5"));
  EXPECT_THAT(refusal(plan, "plan:progress=-0.1"), HasSubstr("progress=-0.1"));
  EXPECT_THAT(refusal(plan, "plan:progress=0.5,own-weight=0.8"), HasSubstr("a rule of its own"));
  EXPECT_THAT(refusal(plan, "plan:momentum=0.3,own-weight=0.8"), HasSubstr("a rule of its own"));
  EXPECT_THAT(refusal(plan, "plan:progress=0"), HasSubstr("nothing would be learned"));
  EXPECT_THAT(refusal(plan, "plan:progress=0,fragments=1"), HasSubstr("nothing would be learned"));
  EXPECT_THAT(refusal(plan, "plan:rounds=far"), HasSubstr("rounds=far"));
  EXPECT_THAT(refusal(plan, "dilocco"), HasSubstr("did you mean 'diloco'"));
  EXPECT_THAT(refusal(plan, "streaming-diloco:steps=1"), HasSubstr("at least"));
  EXPECT_THAT(refusal(plan, "d-psgd:steps=2,fragments=4"), HasSubstr("steps=0"));
  EXPECT_THAT(refusal(plan, "noloco:pull=0.1"), HasSubstr("pull=0.1"));
  EXPECT_THAT(refusal(plan, "local-sgd:steps"), HasSubstr("key=value"));
  const auto broken = read_recipes(R"({"recipes": [{"name": "x"}]})");
  EXPECT_THAT(broken.error().message, HasSubstr("not a file of recipes"));
}

}  // namespace
}  // namespace cotillion
