// Small islands on the CPU. Each test loads libtorch, so there are few.
#include <gtest/gtest.h>

#include <map>

#include "base/random.hpp"
#include "learn/plain_vectors.hpp"
#include "policy/recipes.hpp"
#include "tests/support/learn/small_learner.hpp"
#include "tests/support/train/every_kind.hpp"
#include "tests/support/train/every_policy.hpp"
#include "tests/support/train/merge_agreement.hpp"
#include "train/simulated_carrier.hpp"
#include "train/trainer.hpp"

namespace cotillion {
namespace {

using testing::all_kinds;
using testing::small_learner;
using testing::text_for;

TEST(TorchLearner, EveryPolicyLearnsMoreThanHowOftenBytesCome) {
  const Corpus corpus = text_for(3);
  const PlanFile plan = testing::three_island_plan();
  std::vector<Recipe> recipes = all_kinds();
  for (const std::string& policy : testing::every_policy()) {
    auto recipe = recipe_for(plan, policy, {});
    ASSERT_TRUE(recipe.has_value()) << policy << ": " << recipe.error().message;
    recipes.push_back(std::move(*recipe));
  }
  for (const Recipe& recipe : recipes) {
    const auto learner = make_learner(small_learner(3));
    TrainingSettings settings;
    settings.steps = 200;
    settings.rate = 1e-2;
    settings.evaluations = 2;
    settings.windows = 64;
    const Training training = train(*learner, recipe, corpus, *model_named("mlp"), settings);
    ASSERT_EQ(training.points.size(), 3u) << recipe.name;
    EXPECT_GT(training.points.front().loss_of_mean, corpus.unigram_entropy + 1) << recipe.name;
    EXPECT_LT(training.points.back().loss_of_mean, corpus.unigram_entropy - 0.3) << recipe.name;
  }
}

TEST(TorchLearner, MovesAgreeWithPlainFloats) {
  const auto learner = make_learner(small_learner(3));
  const auto elements = learner->parameters();
  PlainVectors plain(3, elements);
  Random random(5);
  for (const Buffer buffer : {Buffer::kModel, Buffer::kSentEven, Buffer::kTheta})
    for (int i = 0; i < 3; ++i) {
      std::vector<float> values;
      for (std::int64_t e = 0; e < elements; ++e) {
        values.push_back(float(random.unit() - 0.5));
        plain.at(buffer, i, e) = values.back();
      }
      learner->set_row(buffer, i, values);
    }
  const auto mixing = [&](std::size_t rows) {
    std::vector<double> weights;
    for (std::size_t w = 0; w < rows * 3; ++w) weights.push_back(double(random.between(0, 3)) / 4);
    return weights;
  };
  const std::vector<std::vector<int>> whom = {{0, 1, 2}, {0, 2}, {1}};
  for (int k = 0; k < 30; ++k) {
    const std::vector<int>& who = whom[std::size_t(k) % 3];
    const VectorMove move = {random.unit() < 0.7 ? Buffer::kModel : Buffer::kTheta,
                             who,
                             {{Buffer::kSentEven, 1, mixing(who.size())},
                              {Buffer::kTheta, -0.25},
                              {Buffer::kModel, 0.5}},
                             k % 4,
                             4};
    learner->apply(move);
    plain.apply(move);
  }
  learner->apply({Buffer::kSentEven, {1}, {}});
  plain.apply({Buffer::kSentEven, {1}, {}});
  for (const Buffer buffer : {Buffer::kModel, Buffer::kSentEven, Buffer::kTheta})
    for (int i = 0; i < 3; ++i) {
      const std::vector<float> row = learner->row(buffer, i);
      for (std::int64_t e = 0; e < elements; ++e)
        ASSERT_NEAR(row[std::size_t(e)], plain.at(buffer, i, e), 1e-4);
    }
}

// A learner's vectors. What is held within a step has no place outside of it, so it is kept.
class LearnersVectors final : public Vectors {
 public:
  explicit LearnersVectors(Learner& learner) : learner_(learner) {}
  void apply(const VectorMove& move) override {
    VectorMove kept = move;
    kept.into = place_of(kept.into);
    for (Term& term : kept.terms) term.from = place_of(term.from);
    learner_.apply(kept);
  }

 private:
  static Buffer place_of(Buffer buffer) {
    return buffer == Buffer::kHeld ? Buffer::kEarlier : buffer;
  }
  Learner& learner_;
};

TEST(TorchLearner, MergesByTheRuleOfFloats) {
  Random random(23);
  for (int world = 0; world < 12; ++world) {
    const Recipe recipe = testing::random_rule(random);
    const auto learner = make_learner(small_learner(island_count(recipe)));
    LearnersVectors vectors(*learner);
    const double apart = testing::most_apart(
        recipe, learner->parameters(), random, vectors,
        [&](int island) { return learner->row(Buffer::kModel, island); },
        [&](int island, const std::vector<float>& values) {
          learner->set_row(Buffer::kModel, island, values);
        });
    EXPECT_LT(apart, 1e-4) << "world " << world << ": " << testing::described(recipe);
  }
}

TEST(TorchLearner, MovesAroundAnUpdateAreThoseBeforeItAndThoseAfterIt) {
  LearnerSettings settings = small_learner(3);
  settings.model = {ModelSpec::Kind::kGpt, 1, 32, 2, 32};  // more than a slice
  const auto by_slices = make_learner(settings), by_hand = make_learner(settings);
  const Corpus corpus = text_for(3);
  const std::vector<double> shares = {0.5, 0.25, 0.25};
  const auto part = [](Buffer into, std::vector<Term> terms) {
    return VectorMove{into, {0, 2}, std::move(terms), 1, 5, false, 3};
  };
  for (int step = 1; step <= 3; ++step) {
    for (const auto& learner : {by_slices.get(), by_hand.get()}) {
      learner->backward(draw_batch(corpus, 1, step, 2, 32));
      learner->apply({Buffer::kSentEven, {0, 1, 2}, {{Buffer::kMomentOne}, {Buffer::kModel, 0.1}}});
    }
    const Learner::Disagreement apart = by_slices->update_around(
        1e-2,
        {{part(Buffer::kHeldOne, {{Buffer::kMomentOne}}),
          part(Buffer::kHeld, {{Buffer::kSentEven}}),
          part(Buffer::kSentEven, {{Buffer::kSentEven}, {Buffer::kModel}})},
         {part(Buffer::kModel, {{Buffer::kHeld}, {Buffer::kModel}}),
          part(Buffer::kMomentOne, {{Buffer::kHeldOne}, {Buffer::kMomentOne}})}},
        shares);
    by_hand->apply(part(Buffer::kEarlier, {{Buffer::kMomentOne}}));
    by_hand->apply(part(Buffer::kTheta, {{Buffer::kSentEven}}));
    by_hand->apply(part(Buffer::kSentEven, {{Buffer::kSentEven}, {Buffer::kModel}}));
    by_hand->update(1e-2);
    const Learner::Disagreement expected = by_hand->disagreement(shares);
    EXPECT_EQ(apart.distance, expected.distance);
    EXPECT_EQ(apart.norm, expected.norm);
    by_hand->apply(part(Buffer::kModel, {{Buffer::kTheta}, {Buffer::kModel}}));
    by_hand->apply(part(Buffer::kMomentOne, {{Buffer::kEarlier}, {Buffer::kMomentOne}}));
    for (int i = 0; i < 3; ++i)
      for (const Buffer buffer : {Buffer::kModel, Buffer::kSentEven, Buffer::kMomentOne})
        EXPECT_EQ(by_slices->row(buffer, i), by_hand->row(buffer, i));
  }
}

// Four bytes each: the model, its gradient, two moments of AdamW; and one copy in flight. Beside
// them there are the tokens of a step and weights of a schedule.
TEST(TorchLearner, AnIslandKeepsOneCopyBeyondModelAndOptimizer) {
  const Corpus corpus = text_for(3);
  std::vector<Recipe> recipes = all_kinds();
  Recipe between = recipes[0];  // rounds of two and a half steps: a correction waits, a copy leaves
  between.name = "whole, between steps";
  for (RecipeRound& round : rotation_of(between).rounds) {
    round.length = 0.25;
    round.arrives = {0.25, 0.25, 0.25};
  }
  recipes.push_back(between);
  between.name = "with m and v";
  rotation_of(between).moments = 2;
  recipes.push_back(between);
  recipes.push_back(all_kinds()[3]);
  recipes.back().name = "momentum on bf16";
  rotation_of(recipes.back()).progress = 0.5;
  rotation_of(recipes.back()).wire = WireFormat::kBf16;
  LearnerSettings settings = small_learner(3);
  settings.model = {ModelSpec::Kind::kGpt, 2, 64, 2, 16};
  const std::map<std::string, double> expected = {{"whole", 20},
                                                  {"streamed", 20},
                                                  {"whole, between steps", 20},
                                                  {"gossip", 20},
                                                  {"synchronous", 16},
                                                  {"lossy, with own weight", 28},
                                                  {"local SGD", 16},
                                                  {"Streaming DiLoCo", 28},
                                                  {"with m and v", 28},
                                                  {"momentum at the sender", 28},
                                                  {"momentum on bf16", 28}};
  int looked = 0;
  for (const Recipe& recipe : recipes) {
    const auto bytes = expected.find(recipe.name);
    if (bytes == expected.end()) continue;
    ++looked;
    const auto learner = make_learner(settings);
    TrainingSettings training;
    training.steps = 12;
    training.batch = 1;
    training.evaluations = 1;
    training.windows = 4;
    const Training made = train(*learner, recipe, corpus, settings.model, training);
    EXPECT_GE(made.memory.kept, bytes->second) << recipe.name;
    EXPECT_LT(made.memory.kept, bytes->second + 0.05) << recipe.name;
    // 16,384 elements at a time, of 120,000.
    EXPECT_GT(made.memory.moving, 0) << recipe.name;
    EXPECT_LT(made.memory.moving, recipe.name == "with m and v" ? 4 : 3) << recipe.name;
  }
  EXPECT_EQ(looked, int(expected.size()));
}

// Packets of real models through real edges do what the formula does: all go by the same clock.
void expect_agreement(const PlanFile& plan, const std::string& policy) {
  const Corpus corpus = text_for(3, Split::kBySource);
  const auto recipe = recipe_for(plan, policy, {});
  ASSERT_TRUE(recipe.has_value()) << recipe.error().message;
  TrainingSettings settings;
  settings.steps = 80;
  settings.rate = 1e-2;
  settings.evaluations = 2;
  const auto ideally = make_learner(small_learner(3)), simulated = make_learner(small_learner(3));
  const auto played = packetised(plan, *recipe, simulated->parameters());
  ASSERT_TRUE(played.has_value()) << played.error().message;
  const Training expected = train(*ideally, played->recipe, corpus, *model_named("mlp"), settings);
  const auto carrier = simulated_carrier(*played, {}, settings.steps);
  ASSERT_TRUE(carrier.has_value()) << carrier.error().message;
  const Training made =
      train(*simulated, played->recipe, corpus, *model_named("mlp"), settings, {}, carrier->get());
  ASSERT_EQ(made.points.size(), expected.points.size());
  // A value that lies between two of eight bits may be rounded either way.
  const double rounding = rotation_of(*recipe).wire == WireFormat::kBf16 ? 10 : 1;
  for (std::size_t p = 1; p < expected.points.size(); ++p) {
    EXPECT_NEAR(made.points[p].loss_of_mean, expected.points[p].loss_of_mean, 5e-6 * rounding)
        << policy;
    EXPECT_NEAR(made.points[p].distance, expected.points[p].distance,
                1e-4 * rounding * expected.points[p].distance)
        << policy;
  }
}

// Whether rounds are whole numbers of steps or not.
TEST(TorchLearner, ASimulatedExchangeLearnsAsTheIdealOneDoes) {
  for (const double step : {50e9, 61e9, 500e9}) {
    PlanSettings plan_settings;
    plan_settings.slack = RealDuration::from_ps(60e9);
    plan_settings.step_time = RealDuration::from_ps(step);
    plan_settings.whole_steps = step == 50e9;
    const bool long_steps = step == 500e9;  // rounds are made that long; somebody rests in each
    const PlanFile plan = testing::plan_file(testing::example_map("isosceles"),
                                             long_steps ? "pairs" : "all-to-all", plan_settings);
    for (const char* policy :
         {"plan", "plan:fragments=4", "plan:fragments=4,progress=0.5", "plan:own-weight=0.7",
          "plan:fragments=4,own-weight=0.7", "plan:momentum=0.3", "plan:fragments=4,momentum=0.3",
          "plan:progress=0.5,momentum=0.3", "plan:fragments=4,progress=0.5,momentum=0.3",
          "plan:fragments=4,wire=bf16,progress=0.5", "plan:fragments=4,wire=bf16,momentum=0.3",
          "plan:wire=i32", "plan:payload=2"})
      expect_agreement(plan, policy);
    for (const char* policy :
         {"plan:momentum=0.3,at=receiver,wire=f32", "plan:momentum=0.3,at=receiver,wire=bf16"})
      if (!long_steps) expect_agreement(plan, policy);
  }
}

// And where the next round begins while this one is in flight; steps of 500 ms make rounds longer.
PlanFile overlapping_plan(const std::string& schedule, double step) {
  PlanSettings settings;
  settings.step_time = RealDuration::from_ps(step);
  settings.relax = *relaxations_named("all");
  settings.objective = Objective::kPaperStreamed;
  settings.fragments = 4;
  Map map = testing::with_memory(testing::example_map("isosceles"), Bytes{1'000'000'000});
  PlanFile plan = testing::plan_file(std::move(map), schedule, settings);
  EXPECT_TRUE(plan.plan.overlapped);
  return plan;
}

TEST(TorchLearner, ASimulatedExchangeThatOverlapsLearnsAsTheIdealOneDoes) {
  for (const auto& [schedule, step] :
       {std::pair("all-to-all", 61e9), std::pair("all-to-all", 500e9), std::pair("pairs", 170e9),
        std::pair("pairs", 500e9)}) {
    const PlanFile plan = overlapping_plan(schedule, step);
    for (const char* policy :
         {"plan", "plan:progress=0.5", "plan:own-weight=0.7", "plan:momentum=0.3",
          "plan:progress=0.5,momentum=0.3", "plan:wire=i32,progress=0.5", "plan:fragments=7"})
      expect_agreement(plan, policy);
    if (schedule == std::string("all-to-all"))
      expect_agreement(plan, "plan:momentum=0.3,at=receiver");
  }
}

TEST(TorchLearner, ATransformerLearnsOnItsOwnIslandToo) {
  LearnerSettings settings = small_learner(2);
  settings.model = {ModelSpec::Kind::kGpt, 1, 32, 2, 32};
  const auto learner = make_learner(settings);
  const Corpus corpus = text_for(2, Split::kBySource);
  double first = 0, last = 0;
  for (int step = 1; step <= 60; ++step) {
    learner->backward(draw_batch(corpus, 1, step, 8, 32));
    learner->update(5e-3);
    (step == 1 ? first : last) = learner->training_losses()[0];
  }
  EXPECT_NEAR(first, 5.545, 0.3);
  EXPECT_LT(last, 3);
  const auto tokens = held_out_batch(corpus, 4, 32);
  const auto losses = learner->losses(tokens);
  EXPECT_NE(losses[0], losses[1]);
  EXPECT_NEAR(learner->loss_of_mean({1, 0}, tokens), losses[0], 1e-5);
}

}  // namespace
}  // namespace cotillion
