// Studies, and runs that were stopped, with small islands on the CPU.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/support/learn/small_learner.hpp"
#include "tests/support/train/every_kind.hpp"
#include "train/study.hpp"

namespace cotillion {
namespace {

using testing::all_kinds;
using testing::small_learner;
using testing::text_for;

TEST(TorchStudy, AResumedRunEndsWithTheSameLosses) {
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

TEST(TorchStudy, AStudyRunsEachRecipeOnceForEachSeed) {
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
  auto trainings = *run_study(settings, *study, recipes, {}, events);
  ASSERT_EQ(trainings.size(), 4u);
  EXPECT_EQ(told, 4u);
  EXPECT_EQ(carriers, 4);
  // The same first values and text for all of a seed, and others for another.
  EXPECT_EQ(trainings[0].points[0].loss_of_mean, trainings[1].points[0].loss_of_mean);
  EXPECT_NE(trainings[0].points[0].loss_of_mean, trainings[2].points[0].loss_of_mean);
  settings.seeds = {1, 2, 3};
  trainings = *run_study(settings, *study, recipes, std::move(trainings), events);
  EXPECT_EQ(trainings.size(), 6u);
  EXPECT_EQ(carriers, 6);
  // Another text of the same name has been read by nobody yet.
  Study other = *study;
  other.corpus.unigram_entropy += 0.1;
  settings.seeds = {1};
  EXPECT_EQ(run_study(settings, other, recipes, std::move(trainings), events)->size(), 8u);
}

TEST(TorchStudy, ATextIsCalledByItsOwnNameWhereverItLies) {
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

TEST(TorchStudy, AStudyThatWasStoppedGoesOnWhereItWas) {
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
  const auto expected = *run_study(settings, *study, recipes, {}, events);
  settings.training.checkpoint = file;
  settings.training.resume = true;
  events.progress = [](const Recipe& recipe, std::uint64_t, const Progress& at,
                       const ClockSummary&) { return recipe.name == "streamed" && at.step == 7; };
  EXPECT_FALSE(run_study(settings, *study, recipes, {}, events)->back().finished);
  events.progress = {};
  int made = 0;
  events.learner = [&](const LearnerSettings& learner) {
    ++made;
    return make_learner(learner);
  };
  // Others, in its place, are told that it is not theirs.
  const auto others = run_study(settings, *study, {recipes[1], recipes[0]}, {}, events);
  ASSERT_FALSE(others.has_value());
  EXPECT_TRUE(others.error().used_wrongly) << others.error().message;
  // So are those who would go on in another way.
  StudySettings changed = settings;
  changed.training.warmup = 3;
  const auto another = run_study(changed, *study, recipes, {}, events);
  ASSERT_FALSE(another.has_value());
  EXPECT_TRUE(another.error().used_wrongly) << another.error().message;
  made = 0;
  const auto resumed = *run_study(settings, *study, recipes, {}, events);
  EXPECT_EQ(made, 1);  // the first was over
  ASSERT_EQ(resumed.size(), 2u);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_TRUE(resumed[r].finished);
    EXPECT_EQ(resumed[r].points.back().loss_of_mean, expected[r].points.back().loss_of_mean);
  }
  for (const char* left : {"", ".1", ".2", ".1.models", ".2.models"})
    EXPECT_FALSE(std::ifstream(file + left).good()) << left;
}

}  // namespace
}  // namespace cotillion
