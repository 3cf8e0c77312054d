// One merge rule, two executors: floats and moves of vectors do the same to models.
#include "tests/support/train/merge_agreement.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

TEST(MergeAgreement, FloatsAndMovesOfVectorsDoTheSame) {
  Random random(17);
  for (int world = 0; world < 400; ++world) {
    const Recipe recipe = testing::random_rule(random);
    const std::int64_t elements = 2 * rotation_of(recipe).fragments + 1;
    PlainVectors vectors(island_count(recipe), elements);
    const auto row = [&](int island) {
      const float* first = &vectors.at(Buffer::kModel, island);
      return std::vector<float>(first, first + elements);
    };
    const auto set_row = [&](int island, const std::vector<float>& values) {
      std::copy(values.begin(), values.end(), &vectors.at(Buffer::kModel, island));
    };
    EXPECT_LT(testing::most_apart(recipe, elements, random, vectors, row, set_row), 1e-4)
        << "world " << world << ": " << testing::described(recipe);
  }
}

// The rows that a rotation mixes by are the means that receivers take.
TEST(MergeAgreement, WhatIsMissingIsMissingAlike) {
  for (const Missing policy : {Missing::kMeanOfPresent, Missing::kOwnForMissing}) {
    constexpr int islands = 5;
    Recipe recipe;
    RotationRecipe& rotation = rotation_of(recipe);
    recipe.islands.assign(islands, "A");
    rotation.rounds = {{1, std::vector<double>(islands * islands, 1.0 / islands), {}, {}, true}};
    rotation.rounds[0].leaves.assign(islands, 0);
    rotation.rounds[0].arrives.assign(islands, 1);
    recipe.step_time = 1;
    rotation.lost = 0.4;
    rotation.own_for_missing = policy == Missing::kOwnForMissing;
    int lacking = 0;
    for (std::int64_t step = 1; step < 20; ++step)
      for (const VectorMove& move : make_step_schedule(recipe)->after(step))
        for (const Term& term : move.terms)
          for (std::size_t i = 0; i * islands < term.mixing.size(); ++i) {
            const auto first = term.mixing.begin() + std::ptrdiff_t(i * islands);
            const auto absent = std::count(first, first + islands, 0.0);
            lacking += absent > 0;
            const MeanCoefficients mean =
                mean_coefficients(policy, double(islands - absent), double(absent));
            for (std::ptrdiff_t j = 0; j < islands; ++j) {
              if (first[j] == 0) continue;
              const double own = j == std::ptrdiff_t(i) ? mean.own : 0;
              EXPECT_NEAR(first[j], (1 + own) / mean.divisor, 1e-12);
            }
          }
    EXPECT_GT(lacking, 20);
  }
}

}  // namespace
}  // namespace cotillion
