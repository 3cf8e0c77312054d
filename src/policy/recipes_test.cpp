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

// Nine cities, streamed in 64 fragments, rounds that overlap on trees that are decided.
PlanFile overlapping_plan(const std::string& schedule) {
  PlanFile plan = testing::relaxed_nine_city_plan(schedule, "all", Bytes{32'000'000'000});
  plan.plan.settings.step_time = RealDuration::from_ps(169e9);
  EXPECT_TRUE(plan.plan.overlapped);
  return plan;
}

TEST(Recipes, AnOverlappingPlanIsItsOwnTimes) {
  for (const char* schedule : {"triangles", "pairs", "all-to-all"}) {
    const PlanFile plan = overlapping_plan(schedule);
    const Recipe made = recipe(plan, "plan:progress=0.5");
    EXPECT_THAT(made.name, HasSubstr("overlapped, streamed 64, progress 0.5"));
    EXPECT_NEAR(made.staleness[2].second, plan.plan.objective(Objective::kPaperStreamed).ms(),
                1e-9);
    const RotationRecipe& rotation = rotation_of(made);
    ASSERT_EQ(rotation.fragments, 64);
    double beyond = 0;
    for (std::size_t k = 0; k < rotation.rounds.size(); ++k) {
      const PlannedRound& planned = plan.plan.rounds[k];
      const RecipeRound& round = rotation.rounds[k];
      EXPECT_EQ(round.length, planned.length.seconds());
      for (const PlannedClique& clique : planned.cliques)
        for (std::size_t i = 0; i < clique.streams.size(); ++i)
          for (int f = 0; f < 64; ++f) {
            const std::size_t at = std::size_t(clique.islands[i]) * 64 + std::size_t(f);
            const double part = clique.serialisation.seconds() / 64;
            EXPECT_DOUBLE_EQ(round.leaves[at], clique.streams[i].offset.seconds() + f * part);
            EXPECT_DOUBLE_EQ(round.arrives[at], clique.sums[i].seconds() + (f + 1) * part);
            beyond = std::max(beyond, round.arrives[at] - round.length);
          }
    }
    EXPECT_GT(beyond, 0.02) << schedule;
    const auto read = read_recipes(Json{{"recipes", {to_json(made)}}}.dump());
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(to_json((*read)[0]), to_json(made));
  }
}

TEST(Recipes, OverlappingRoundsAreLongerWhereStepsOrFragmentsAskForIt) {
  PlanFile plan = overlapping_plan("all-to-all");
  const Recipe planned = recipe(plan, "plan");
  EXPECT_NEAR(rounds_of(planned)[0].length, 0.4, 1e-9);  // 1 GB at 20 Gbps
  // All of it has come before any of it is copied again.
  const Recipe whole = recipe(plan, "plan:fragments=1");
  double last = 0;
  for (std::size_t i = 0; i < 9; ++i)
    last = std::max(last, rounds_of(whole)[0].arrives[i] - rounds_of(whole)[0].leaves[i]);
  EXPECT_NEAR(rounds_of(whole)[0].length, last, 1e-9);
  EXPECT_GT(last, 0.4 + 0.1);
  plan.plan.settings.step_time = RealDuration::from_ps(600e9);
  const Recipe made = recipe(plan, "plan");
  const RecipeRound& round = rounds_of(made)[0];
  EXPECT_NEAR(round.length, 0.6, 1e-12);
  EXPECT_EQ(round.leaves, rounds_of(planned)[0].leaves);
  EXPECT_EQ(round.arrives, rounds_of(planned)[0].arrives);
  // Everybody meets everybody in every round: T(A + ½) has A = 1.
  EXPECT_NEAR(made.staleness[2].second - planned.staleness[2].second,
              (round.length - rounds_of(planned)[0].length) * 1e3 / 2, 1e-6);
  EXPECT_NEAR(made.egress, planned.egress * rounds_of(planned)[0].length / round.length, 1);
}

TEST(Recipes, WhetherRoundsOverlapIsThePlansToSay) {
  for (const PlanFile& plan : {paper_plan("triangles"), overlapping_plan("triangles")})
    for (const char* rounds : {"close", "apart"})
      EXPECT_THAT(refusal(plan, std::string("plan:fragments=8,rounds=") + rounds),
                  HasSubstr("make one with `cotillion plan --relax overlap"));
}

// As they were made when rounds=close was a setting of policies.
TEST(Recipes, RecipesThatNameCloseRoundsAreRead) {
  Json close = to_json(recipe(paper_plan("triangles"), "plan:fragments=8"));
  close["policy"] = "plan:fragments=8,rounds=close";
  for (Json& round : close["rounds"]) {
    round["length_s"] = 0.4;  // as long as the bytes take to leave; the last of them fly until 514
    for (Json& arrives : round["arrives_s"]) arrives = arrives.get<double>();
  }
  const auto read = read_recipes(Json{{"recipes", {close}}}.dump());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ((*read)[0].policy, "plan:fragments=8,rounds=close");
  EXPECT_NEAR(make_step_schedule((*read)[0])->account().cycle, 0.4, 1e-12);
  for (Json& round : close["rounds"]) round["length_s"] = 0.05;
  EXPECT_THAT(read_recipes(Json{{"recipes", {close}}}.dump()).error().message,
              HasSubstr("rounds (length_s) are too short"));
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
        EXPECT_GE(round.length, step * (1 - 1e-9)) << policy;
    }
  }
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
