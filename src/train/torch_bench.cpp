// Does every policy learn? Three islands and a small model, as many steps for each, beside what a
// model can do that knows how often bytes come, and one that knows the byte before. Ends with 1 if
// a policy is not below the second.
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "base/table.hpp"
#include "policy/recipes.hpp"
#include "tests/support/base/benchmarks.hpp"
#include "tests/support/learn/small_learner.hpp"
#include "tests/support/train/every_policy.hpp"
#include "train/study.hpp"

namespace cotillion {
namespace {

constexpr int kIslands = 3;
constexpr std::int64_t kSteps = 600;
constexpr std::int64_t kSmokeSteps = 16;  // nobody learns much from as few: only that they work

double processor_seconds() {
  return double(std::clock()) / CLOCKS_PER_SEC;
}

int run(bool smoke) {
  const std::int64_t steps = smoke ? kSmokeSteps : kSteps;
  const PlanFile plan = testing::three_island_plan();
  const Corpus corpus = *make_corpus(synthetic_documents(1, 2'000'000, kIslands), kIslands,
                                     Split::kBySource, 1, 4096);
  const double bigram = bigram_entropy(corpus.held_out);
  fmt::print(
      "Three islands, texts of their own sources, an MLP that sees 8 bytes, {} steps of each "
      "policy "
      "on one core.\nHeld-out text: {:.3f} nats per byte by how often bytes come, {:.3f} by the "
      "byte before.\n\n",
      steps, corpus.unigram_entropy, bigram);
  Rows rows = {{"policy", "loss", "of a bigram model's", "below it", "clock s", "CPU s"}};
  bool all = true;
  for (const std::string& policy : testing::every_policy()) {
    const auto recipe = recipe_for(plan, policy, {});
    if (!recipe) {
      fmt::print("{}: {}\n", policy, recipe.error().message);
      return 1;
    }
    const LearnerSettings learner = testing::small_learner(kIslands);
    TrainingSettings settings;
    settings.steps = steps;
    settings.rate = 8e-3;
    settings.batch = 16;
    settings.evaluations = 1;
    settings.windows = smoke ? 16 : 256;
    const double began = processor_seconds();
    const auto islands = make_learner(learner);
    const Training made = train(*islands, *recipe, corpus, learner.model, settings);
    const double loss = made.points.back().loss_of_mean;
    const bool below = loss < bigram;
    if (!std::isfinite(loss)) return 1;
    all = all && below;
    rows.push_back({recipe->name, fmt::format("{:.4f}", loss), fmt::format("{:.3f}", loss / bigram),
                    below ? "yes" : "NO", fmt::format("{:.0f}", made.seconds),
                    fmt::format("{:.1f}", processor_seconds() - began)});
  }
  fmt::print("{}", table_of(rows).text());
  return all || smoke ? 0 : 1;
}

}  // namespace
}  // namespace cotillion

int main(int argc, char** argv) {
  return cotillion::run(cotillion::testing::take_smoke(argc, argv));
}
