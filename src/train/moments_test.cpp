// AdamW's moments on their way with the model: what is left of what was sent becomes the average,
// and what was gathered meanwhile stays.
#include <gtest/gtest.h>

#include "learn/learner.hpp"
#include "tests/support/train/step_schedule_play.hpp"

namespace cotillion {
namespace {

using namespace testing;

TEST(Moments, TravelByFragmentsInTurn) {
  RotationRecipe recipe;
  recipe.fragments = 2;
  recipe.rounds = {round_of(kHalves, 0.4, 2, 2)};
  recipe.moments = 2;
  recipe.moments_every = 2;
  const auto schedule = make_step_schedule(recipe_of(recipe, 2));
  PlainVectors rows(2, 2);
  for (std::int64_t e = 0; e < 2; ++e) {
    rows.at(Buffer::kMomentTwo, 0, e) = 2;
    rows.at(Buffer::kMomentTwo, 1, e) = 6;
    rows.at(Buffer::kMomentOne, 0, e) = 1;
    rows.at(Buffer::kMomentOne, 1, e) = 3;
  }
  for (std::int64_t steps = 0; steps <= 4; ++steps) {
    for (const VectorMove& move : schedule->after(steps)) rows.apply(move);
    // The optimizer goes on.
    if (steps == 1) rows.at(Buffer::kMomentOne, 0, 0) += 10, rows.at(Buffer::kMomentTwo, 0, 0) = 9;
  }
  // Three steps in flight.
  const auto left = [](double beta) { return float(beta * beta * beta); };
  const float v = left(LearnerSettings{}.beta2), m = left(LearnerSettings{}.beta1);
  EXPECT_FLOAT_EQ(rows.at(Buffer::kMomentTwo, 0, 0), 9 + 2 * v);
  EXPECT_FLOAT_EQ(rows.at(Buffer::kMomentTwo, 1, 0), 6 - 2 * v);
  EXPECT_FLOAT_EQ(rows.at(Buffer::kMomentOne, 0, 0), 11 + m);
  EXPECT_FLOAT_EQ(rows.at(Buffer::kMomentOne, 1, 0), 3 - m);
  EXPECT_EQ(rows.at(Buffer::kMomentTwo, 0, 1), 2);  // its turn is the next round
  for (std::int64_t steps = 5; steps <= 8; ++steps)
    for (const VectorMove& move : schedule->after(steps)) rows.apply(move);
  EXPECT_FLOAT_EQ(rows.at(Buffer::kMomentTwo, 0, 1), 2 + 2 * v);
}

// Rounds of many lengths, whole and streamed: of islands that see squares
// of 1 and of 3, v is on the mean what it would be without any exchange, and they come nearer.
TEST(Moments, AreNeitherLostNorMadeUpInFlight) {
  for (const double length : {0.1, 0.15, 0.25, 0.295, 0.5})
    for (const int fragments : {1, 4})
      for (const double own_weight : {1.0, 0.5}) {  // one copy, and one for every other round
        RotationRecipe recipe;
        recipe.fragments = fragments;
        recipe.rounds = {round_of(kHalves, length, 2, fragments)};
        recipe.moments = 2;
        recipe.own_weight = own_weight;
        Play play(recipe_of(recipe, 2), {0, 0}, fragments);
        const double beta = LearnerSettings{}.beta2;
        const auto v = [&](int island, int e) -> float& {
          return play.rows().at(Buffer::kMomentTwo, island, e);
        };
        play.with_update = [&] {
          for (int e = 0; e < fragments; ++e)
            for (const int i : {0, 1})
              v(i, e) = float(beta * v(i, e) + (1 - beta) * (i == 0 ? 1 : 3));
        };
        play.start_from({0, 0});
        double free = 0;
        for (int step = 0; step < 60; ++step) {
          play.step();
          free = beta * free + (1 - beta) * 2;
          for (int e = 0; e < fragments; ++e) {
            EXPECT_NEAR((v(0, e) + v(1, e)) / 2, free, 1e-5) << length << ' ' << fragments;
            EXPECT_GE(v(0, e), 0);
            EXPECT_LE(v(1, e) - v(0, e), free + 1e-6);  // what it is without any exchange
          }
        }
        EXPECT_LT(v(1, 0) - v(0, 0), 0.6 * free) << length << ' ' << fragments;
      }
}

TEST(Moments, OfWhoRestsStayAsTheyAre) {
  RotationRecipe recipe;
  recipe.rounds = {round_of({0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, 0.1, 3)};
  recipe.moments = 1;
  Play play(recipe_of(recipe, 3), {0, 0, 0});
  const auto v = [&](int island) -> float& { return play.rows().at(Buffer::kMomentTwo, island); };
  v(0) = 1, v(1) = 3, v(2) = 5;
  play.with_update = [&] { v(0) += 1, v(1) += 1, v(2) += 1; };
  play.start_from({0, 0, 0});
  play.step();
  const auto left = float(LearnerSettings{}.beta2);
  EXPECT_FLOAT_EQ(v(0), 2 + left);
  EXPECT_FLOAT_EQ(v(1), 4 - left);
  EXPECT_EQ(v(2), 6);
}

}  // namespace
}  // namespace cotillion
