// Small islands on the CPU. Each test loads libtorch, so there are few.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/random.hpp"
#include "learn/plain_vectors.hpp"
#include "policy/recipes.hpp"
#include "tests/support/learn/small_learner.hpp"
#include "tests/support/train/every_policy.hpp"
#include "tests/support/train/merge_agreement.hpp"
#include "train/simulated_carrier.hpp"
#include "train/study.hpp"

namespace cotillion {
namespace {

using testing::small_learner;

Corpus text_for(int islands, Split split = Split::kAlike) {
  return *make_corpus(synthetic_documents(1, 200'000, islands), islands, split, 1, 4096);
}

Recipe recipe_of(const std::string& name, decltype(Recipe::kind) kind) {
  Recipe recipe{{}, std::move(kind)};
  recipe.name = name;
  recipe.islands = {"A", "B", "C"};
  recipe.shares = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  recipe.step_time = 0.1;
  return recipe;
}

std::vector<RecipeRound> pairs() {
  std::vector<RecipeRound> rounds;
  for (const std::vector<double>& mixing : std::vector<std::vector<double>>{
           {0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, {1, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0.5}})
    rounds.push_back({0.3, mixing, {0, 0, 0}, {0.3, 0.3, 0.3}, false});
  return rounds;
}

RotationRecipe whole() {
  return {.rounds = pairs()};
}

RotationRecipe streamed() {
  RotationRecipe rotation = whole();
  rotation.fragments = 2;
  for (RecipeRound& round : rotation.rounds) {
    round.leaves = {0, 0.1, 0, 0.1, 0, 0.1};
    round.arrives = {0.1, 0.2, 0.1, 0.2, 0.1, 0.2};
  }
  return rotation;
}

RotationRecipe lossy() {
  RotationRecipe rotation = whole();
  rotation.lost = 0.1;
  rotation.own_for_missing = true;
  rotation.own_weight = 0.7;
  return rotation;
}

RotationRecipe pushed() {
  RotationRecipe rotation = whole();
  rotation.momentum = 0.3;
  rotation.momentum_at_sender = true;
  return rotation;
}

std::vector<Recipe> all_kinds() {
  return {recipe_of("whole", whole()),
          recipe_of("streamed", streamed()),
          recipe_of("lossy, with own weight", lossy()),
          recipe_of("momentum at the sender", pushed()),
          recipe_of("gossip", GossipRecipe{pairs(), 5}),
          recipe_of("synchronous", SynchronousRecipe{0.3}),
          recipe_of("local SGD", OuterRecipe{5, 0.3}),
          recipe_of("DiLoCo", OuterRecipe{5, 0.3, true, 0.7, 0.5}),
          recipe_of("Streaming DiLoCo", StreamingRecipe{.steps = 5,
                                                        .fragments = 2,
                                                        .overlap = 2,
                                                        .outer_rate = 0.7,
                                                        .momentum = 0.5,
                                                        .keep = 0.5}),
          recipe_of("eager DiLoCo", EagerRecipe{5, 0.3, 0.7, 0.5}),
          recipe_of("NoLoCo", PairsRecipe{pairs(), 5, 0.7, 0.5}),
          recipe_of("HALoS", ServersRecipe{.rounds = pairs(),
                                           .steps = 5,
                                           .exchange = 0.3,
                                           .every = 2,
                                           .overlap = 4,
                                           .server_weight = 0.25,
                                           .outer_rate = 0.7,
                                           .momentum = 0.5})};
}

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

TEST(TorchLearner, AResumedRunEndsWithTheSameLosses) {
  const std::string file = ::testing::TempDir() + "cotillion-checkpoint";
  std::remove(file.c_str());
  const Corpus corpus = text_for(3);
  Recipe recipe = all_kinds()[2];
  TrainingSettings settings;
  settings.seconds = 6;
  settings.evaluations = 3;
  settings.checkpoint = file;
  settings.resume = true;
  const auto whole = make_learner(small_learner(3));
  TrainingSettings without = settings;
  without.checkpoint.clear();
  const Training expected = train(*whole, recipe, corpus, *model_named("mlp"), without);
  EXPECT_EQ(expected.steps, 60);
  const auto first = make_learner(small_learner(3));
  const Training stopped = train(*first, recipe, corpus, *model_named("mlp"), settings,
                                 [](const Progress& at) { return at.step == 25; });
  EXPECT_FALSE(stopped.finished);
  const auto second = make_learner(small_learner(3));
  const Training resumed = train(*second, recipe, corpus, *model_named("mlp"), settings);
  EXPECT_TRUE(resumed.finished);
  ASSERT_EQ(resumed.points.size(), expected.points.size());
  for (std::size_t p = 0; p < expected.points.size(); ++p) {
    EXPECT_EQ(resumed.points[p].loss_of_mean, expected.points[p].loss_of_mean);
    EXPECT_EQ(resumed.points[p].training_loss, expected.points[p].training_loss);
    EXPECT_EQ(resumed.points[p].distance, expected.points[p].distance);
  }
  std::remove(file.c_str());
  std::remove((file + ".models").c_str());
}

// Packets of real models through real edges do what the formula does, whether rounds are whole
// numbers of steps or not: all go by the same clock.
TEST(TorchLearner, ASimulatedExchangeLearnsAsTheIdealOneDoes) {
  for (const double step : {50e9, 61e9, 500e9}) {
    PlanSettings plan_settings;
    plan_settings.slack = RealDuration::from_ps(60e9);
    plan_settings.step_time = RealDuration::from_ps(step);
    plan_settings.whole_steps = step == 50e9;
    const bool long_steps = step == 500e9;  // rounds are made that long; somebody rests in each
    const PlanFile plan = testing::plan_file(testing::example_map("isosceles"),
                                             long_steps ? "pairs" : "all-to-all", plan_settings);
    const Corpus corpus = text_for(3, Split::kBySource);
    std::vector<std::string> policies = {"plan",
                                         "plan:fragments=4",
                                         "plan:fragments=4,progress=0.5",
                                         "plan:own-weight=0.7",
                                         "plan:fragments=4,own-weight=0.7",
                                         "plan:momentum=0.3",
                                         "plan:fragments=4,momentum=0.3",
                                         "plan:progress=0.5,momentum=0.3",
                                         "plan:fragments=4,progress=0.5,momentum=0.3",
                                         "plan:fragments=4,wire=bf16,progress=0.5",
                                         "plan:fragments=4,wire=bf16,momentum=0.3",
                                         "plan:wire=i32",
                                         "plan:payload=2"};
    for (const char* wire : {"f32", "bf16"})
      if (!long_steps)
        policies.push_back("plan:momentum=0.3,at=receiver,wire=" + std::string(wire));
    for (const std::string& policy : policies) {
      const auto recipe = recipe_for(plan, policy, {});
      ASSERT_TRUE(recipe.has_value()) << recipe.error().message;
      TrainingSettings settings;
      settings.steps = 80;
      settings.rate = 1e-2;
      settings.evaluations = 2;
      const auto ideally = make_learner(small_learner(3)),
                 simulated = make_learner(small_learner(3));
      const auto played = packetised(plan, *recipe, simulated->parameters());
      ASSERT_TRUE(played.has_value()) << played.error().message;
      const Training expected =
          train(*ideally, played->recipe, corpus, *model_named("mlp"), settings);
      const auto carrier = simulated_carrier(*played, {}, settings.steps);
      ASSERT_TRUE(carrier.has_value()) << carrier.error().message;
      const Training made = train(*simulated, played->recipe, corpus, *model_named("mlp"), settings,
                                  {}, carrier->get());
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
  }
}

TEST(TorchLearner, AStudyRunsEachRecipeOnceForEachSeed) {
  StudySettings settings;
  settings.model = "mlp";
  settings.data = "synthetic:100kB";
  settings.seeds = {1, 2};
  settings.learner = small_learner(3);
  settings.training.steps = 4;
  settings.training.evaluations = 1;
  const auto study = prepare(settings, 3);
  ASSERT_TRUE(study.has_value()) << study.error().message;
  int carriers = 0;
  std::size_t told = 0;
  StudyEvents events;
  events.learner = make_learner;
  events.carrier = [&](const Recipe&, std::int64_t elements, std::int64_t steps) {
    ++carriers;
    EXPECT_GT(elements, 1000);
    EXPECT_EQ(steps, 4);
    return std::unique_ptr<Carrier>();
  };
  events.finished = [&](const std::vector<Training>& so_far) { told = so_far.size(); };
  const std::vector<Recipe> recipes = {all_kinds()[0], all_kinds()[5]};
  auto trainings = run_study(settings, *study, recipes, {}, events);
  ASSERT_EQ(trainings.size(), 4u);
  EXPECT_EQ(told, 4u);
  EXPECT_EQ(carriers, 4);
  // The same first values and text for all of a seed, and others for another.
  EXPECT_EQ(trainings[0].points[0].loss_of_mean, trainings[1].points[0].loss_of_mean);
  EXPECT_NE(trainings[0].points[0].loss_of_mean, trainings[2].points[0].loss_of_mean);
  settings.seeds = {1, 2, 3};
  trainings = run_study(settings, *study, recipes, std::move(trainings), events);
  EXPECT_EQ(trainings.size(), 6u);
  EXPECT_EQ(carriers, 6);
  // Another text of the same name has been read by nobody yet.
  Study other = *study;
  other.corpus.unigram_entropy += 0.1;
  settings.seeds = {1};
  EXPECT_EQ(run_study(settings, other, recipes, std::move(trainings), events).size(), 8u);
}

TEST(TorchLearner, ATextIsCalledByItsOwnNameWhereverItLies) {
  const std::filesystem::path folder = ::testing::TempDir() + "cotillion-text-name/manuals";
  std::filesystem::create_directories(folder);
  for (int n = 0; n < 32; ++n)
    std::ofstream(folder / (std::to_string(n) + ".txt")) << std::string(4000, char('a' + n % 26));
  StudySettings settings;
  settings.model = "mlp";
  for (const std::string& data : {folder.string(), folder.string() + "/"}) {
    settings.data = data;
    const auto study = prepare(settings, 3);
    ASSERT_TRUE(study.has_value()) << study.error().message;
    EXPECT_EQ(study->corpus.name, "manuals, alike");
  }
  std::filesystem::remove_all(folder.parent_path());
}

TEST(TorchLearner, AStudyThatWasStoppedGoesOnWhereItWas) {
  const std::string file = ::testing::TempDir() + "cotillion-study";
  StudySettings settings;
  settings.model = "mlp";
  settings.data = "synthetic:100kB";
  settings.learner = small_learner(3);
  settings.training.steps = 12;
  settings.training.evaluations = 2;
  const auto study = prepare(settings, 3);
  ASSERT_TRUE(study.has_value()) << study.error().message;
  StudyEvents events;
  events.learner = make_learner;
  const std::vector<Recipe> recipes = {all_kinds()[0], all_kinds()[1]};
  const auto expected = run_study(settings, *study, recipes, {}, events);
  settings.training.checkpoint = file;
  settings.training.resume = true;
  events.progress = [](const Recipe& recipe, std::uint64_t, const Progress& at,
                       const ClockSummary&) { return recipe.name == "streamed" && at.step == 7; };
  EXPECT_FALSE(run_study(settings, *study, recipes, {}, events).back().finished);
  events.progress = {};
  int made = 0;
  events.learner = [&](const LearnerSettings& learner) {
    ++made;
    return make_learner(learner);
  };
  // Others, in its place, are told that it is not theirs.
  EXPECT_THROW((void)run_study(settings, *study, {recipes[1], recipes[0]}, {}, events),
               WrongCheckpoint);
  // So are those who would go on in another way.
  StudySettings changed = settings;
  changed.training.warmup = 3;
  EXPECT_THROW((void)run_study(changed, *study, recipes, {}, events), WrongCheckpoint);
  made = 0;
  const auto resumed = run_study(settings, *study, recipes, {}, events);
  EXPECT_EQ(made, 1);  // the first was over
  ASSERT_EQ(resumed.size(), 2u);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_TRUE(resumed[r].finished);
    EXPECT_EQ(resumed[r].points.back().loss_of_mean, expected[r].points.back().loss_of_mean);
  }
  for (const char* left : {"", ".1", ".2", ".1.models", ".2.models"})
    EXPECT_FALSE(std::ifstream(file + left).good()) << left;
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
