// AdamW's moments on their way with the model: v becomes the average, m keeps what it learned
// meanwhile.
#include <gtest/gtest.h>

#include "tests/support/dance_play.hpp"

namespace cotillion {
namespace {

using namespace testing;

TEST(Moments, TravelByFragmentsInTurn) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.fragments = 2;
  recipe.rounds = {round_of(kHalves, 0.4, 2, 2)};
  recipe.moments = 2;
  recipe.moments_every = 2;
  const auto dance = make_dance(recipe);
  PlainVectors rows(2, 2);
  for (std::int64_t e = 0; e < 2; ++e) {
    rows.at(Buffer::kMomentTwo, 0, e) = 2;
    rows.at(Buffer::kMomentTwo, 1, e) = 6;
    rows.at(Buffer::kMomentOne, 0, e) = 1;
    rows.at(Buffer::kMomentOne, 1, e) = 3;
  }
  for (std::int64_t steps = 0; steps <= 4; ++steps) {
    for (const VectorMove& move : dance->after(steps)) rows.apply(move);
    // The optimizer goes on: m keeps what comes meanwhile, v is replaced.
    if (steps == 1) rows.at(Buffer::kMomentOne, 0, 0) += 10, rows.at(Buffer::kMomentTwo, 0, 0) = 9;
  }
  EXPECT_EQ(rows.at(Buffer::kMomentTwo, 0, 0), 4);
  EXPECT_EQ(rows.at(Buffer::kMomentTwo, 1, 0), 4);
  EXPECT_EQ(rows.at(Buffer::kMomentOne, 0, 0), 12);
  EXPECT_EQ(rows.at(Buffer::kMomentOne, 1, 0), 2);
  EXPECT_EQ(rows.at(Buffer::kMomentTwo, 0, 1), 2);  // its turn is the next round
  for (std::int64_t steps = 5; steps <= 8; ++steps)
    for (const VectorMove& move : dance->after(steps)) rows.apply(move);
  EXPECT_EQ(rows.at(Buffer::kMomentTwo, 0, 1), 4);
}

// A round is a step and a half: what was sent at 0 comes at 0.15 and is merged at 0.2, and the next
// copy leaves at 0.15.
TEST(Moments, ThatLeaveWhileACorrectionWaitsHoldIt) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 2);
  recipe.rounds = {round_of(kHalves, 0.15, 2)};
  recipe.moments = 2;
  for (const double own_weight : {1.0, 0.5}) {  // one copy, and one for every other round
    recipe.own_weight = own_weight;
    Play play(recipe, {0, 0});
    const auto m = [&](int island) -> float& { return play.rows().at(Buffer::kMomentOne, island); };
    const auto v = [&](int island) -> float& { return play.rows().at(Buffer::kMomentTwo, island); };
    m(0) = 0, m(1) = 8;
    v(0) = 1, v(1) = 5;
    play.with_update = [&] { m(0) += 1, m(1) += 3, v(0) += 1, v(1) += 1; };
    play.start_from({0, 0});  // sent are (0, 8) and (1, 5)
    play.step();              // what leaves at 0.15 is (1, 11) + (4, −4), and (3, 3)
    EXPECT_EQ(m(0), 1);
    EXPECT_EQ(v(0), 2);
    play.step();  // (2, 14) + (4, −4)
    EXPECT_EQ(m(0), 6);
    EXPECT_EQ(m(1), 10);
    EXPECT_EQ(v(0), 3);
    EXPECT_EQ(v(1), 3);
    play.step();  // (7, 13) + (1, −1)
    EXPECT_EQ(m(0), 8);
    EXPECT_EQ(m(1), 12);
    EXPECT_EQ(v(0), 3);
    EXPECT_EQ(v(1), 3);
  }
}

TEST(Moments, OfWhoRestsStayAsTheyAre) {
  Recipe recipe = recipe_of(Recipe::Kind::kRotation, 3);
  recipe.rounds = {round_of({0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, 0.1, 3)};
  recipe.moments = 1;
  Play play(recipe, {0, 0, 0});
  const auto v = [&](int island) -> float& { return play.rows().at(Buffer::kMomentTwo, island); };
  v(0) = 1, v(1) = 3, v(2) = 5;
  play.with_update = [&] { v(0) += 1, v(1) += 1, v(2) += 1; };
  play.start_from({0, 0, 0});
  play.step();
  EXPECT_EQ(v(0), 2);
  EXPECT_EQ(v(1), 2);
  EXPECT_EQ(v(2), 6);
}

}  // namespace
}  // namespace cotillion
