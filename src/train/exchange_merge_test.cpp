#include "train/exchange_merge.hpp"

#include <gtest/gtest.h>

#include <random>

#include "learn/plain_vectors.hpp"

namespace cotillion {
namespace {

// One element of one island, round by round. Beside it the rule itself, which is told the average
// as it is; at the region there is average − S, and what lies there while it comes is corrected.
struct Rule {
  const char* name = "";
  RotationRecipe recipe;
  double within = 1e-5;
};

Rule rule(const char* name, double own_weight, double progress, double momentum, WireFormat wire) {
  Rule made;
  made.name = name;
  made.recipe.own_weight = own_weight;
  made.recipe.progress = progress;
  made.recipe.momentum = momentum;
  made.recipe.momentum_at_sender = true;
  made.recipe.wire = wire;
  return made;
}

class AtTheRegion : public ::testing::TestWithParam<Rule> {};

TEST_P(AtTheRegion, ModelsAreThoseOfTheRule) {
  const auto& [name, recipe, within] = GetParam();
  const bool may_leave_ahead = recipe.own_weight == 1;
  JobSpec job;
  job.elements = 1;
  ExchangeMerge region(recipe, job);
  Merge rule(job, merge_settings_of(recipe));
  std::mt19937 random(7);
  std::uniform_real_distribution<float> learned(-0.1F, 0.1F);
  std::bernoulli_distribution chance(0.5);

  float x = 1, y = 1;  // at the region, by the rule
  float laid = x, z = y;
  bool ahead = false;  // the copy that flies left before the round before was merged
  region.to_laid(0, {&laid, 1}, false);
  rule.to_sent(0, {&z, 1});
  for (int round = 0; round < 40; ++round) {
    const float progress = learned(random);
    x += progress;
    y += progress;
    const bool next_ahead = may_leave_ahead && chance(random);
    const float next_progress = learned(random);
    float next_laid = x, next_z = y;
    if (next_ahead) {
      region.to_laid(0, {&next_laid, 1}, true);
      rule.to_sent(0, {&next_z, 1}, true);
      x += next_progress;
      y += next_progress;
    }
    // Everyone else is at 0.5.
    const float sent = on_wire(laid, recipe.wire);
    const float average = 0.25F * sent + 0.75F * 0.5F;
    const float correction = average - sent;
    const double p = recipe.progress;
    // What is rounded away stays.
    const double of_rule = average + (double(z) - double(on_wire(z, recipe.wire)));
    if (next_ahead) {
      next_laid += correction;
      next_z = float(next_z + (of_rule - p * z));
    }
    region.apply(0, {&x, 1}, {&correction, 1}, {.waited = next_ahead});
    rule.apply(0, {&y, 1}, std::vector<double>{of_rule}, std::vector<double>{z},
               {.waited = next_ahead});
    ASSERT_NEAR(x, y, within) << name << ", round " << round << (ahead ? ", left ahead" : "");
    if (!next_ahead) {
      next_laid = x;
      next_z = y;
      region.to_laid(0, {&next_laid, 1}, false);
      rule.to_sent(0, {&next_z, 1});
    }
    ASSERT_NEAR(next_laid, next_z, within) << name << ", what leaves after round " << round;
    laid = next_laid;
    z = next_z;
    ahead = next_ahead;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, AtTheRegion,
    ::testing::Values(rule("OwnWeight", 0.6, 1, 0, WireFormat::kF32),
                      rule("Momentum", 1, 1, 0.5, WireFormat::kF32),
                      rule("MomentumAndProgress", 1, 0.25, 0.5, WireFormat::kF32),
                      rule("MomentumAndNothingKept", 1, 0, 0.3, WireFormat::kF32),
                      rule("MomentumOnBf16", 1, 1, 0.3, WireFormat::kBf16),
                      rule("AllOfItOnBf16", 1, 0.5, 0.3, WireFormat::kBf16)),
    [](const auto& tested) { return tested.param.name; });

TEST(ExchangeMerge, SaysWhatItKeeps) {
  RotationRecipe recipe;
  recipe.momentum = 0.5;
  recipe.momentum_at_sender = true;
  JobSpec job;
  job.elements = 100;
  ExchangeMerge region(recipe, job);
  EXPECT_EQ(region.bytes(), 100u * 4 * (3 + 1));  // anchor, velocity, z − x; the copy
  std::vector<float> some(10);
  region.to_laid(0, some, true);
  EXPECT_EQ(region.bytes(), 100u * 4 * (3 + 2));
}

}  // namespace
}  // namespace cotillion
