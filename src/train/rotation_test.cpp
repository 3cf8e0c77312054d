// The paper's rule and its refinements on two or three islands whose models are one number each,
// against arithmetic that was done by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/train/step_schedule_play.hpp"

namespace cotillion {
namespace {

using namespace testing;

TEST(Rotation, WholeSnapshotsAverageWhatWasSentAndKeepProgress) {
  RotationRecipe recipe;
  recipe.rounds = {round_of(kHalves, 0.2, 2)};
  Play play(recipe_of(recipe, 2), {1, 3});
  play.start_from({0, 8});
  play.step();
  EXPECT_EQ(play.x(0), 1);
  // S was (0, 8): x ← 2 + 4 − 0 and 14 + 4 − 8.
  play.step();
  EXPECT_EQ(play.x(0), 6);
  EXPECT_EQ(play.x(1), 10);
  // S is (6, 10) and its mean 8.
  play.step(2);
  EXPECT_EQ(play.x(0), 10);
  EXPECT_EQ(play.x(1), 14);
  EXPECT_DOUBLE_EQ(play.schedule().time_after(4), 0.4);
}

TEST(Rotation, MergesWaitForTheEndOfAStepAndCopiesDoNot) {
  RotationRecipe recipe;
  // Two fragments: copied at 0 and at 0.15, merged at 0.12 and at 0.27 of rounds of 0.3.
  recipe.fragments = 2;
  RecipeRound round{0.3, kHalves, {0, 0.15, 0, 0.15}, {0.12, 0.27, 0.12, 0.27}, true};
  recipe.rounds = {round};
  Play play(recipe_of(recipe, 2), {1, 3}, 2);
  play.start_from({0, 8});
  play.step();  // fragment 1 is copied as it is after one step: (1, 11)
  EXPECT_EQ(play.x(0, 0), 1);
  play.step();  // fragment 0, sent as (0, 8), is merged
  EXPECT_EQ(play.x(0, 0), 2 + 4);
  EXPECT_EQ(play.x(1, 0), 14 - 4);
  EXPECT_EQ(play.x(0, 1), 2);
  play.step();  // and fragment 1
  EXPECT_EQ(play.x(0, 1), 3 + 6 - 1);
  EXPECT_EQ(play.x(1, 1), 17 + 6 - 11);
  EXPECT_NEAR(play.schedule().account().delay_max, 0.2, 1e-12);
}

TEST(Rotation, OwnWeightShowsTheOptimizerOnlyAShareOfItsOwnProgress) {
  RotationRecipe recipe;
  recipe.rounds = {round_of(kHalves, 0.1, 2)};
  recipe.own_weight = 0.5;
  Play play(recipe_of(recipe, 2), {2, 6});
  play.start_from({0, 4});
  play.step();  // z = W S + D = (2 + 2, 2 + 6), x = z − D/2
  EXPECT_EQ(play.x(0), 3);
  EXPECT_EQ(play.x(1), 5);
  play.step();  // z was (4, 8): (6 + 2, 6 + 6), x = (7, 9)
  EXPECT_EQ(play.x(0), 7);
  EXPECT_EQ(play.x(1), 9);
}

TEST(Rotation, AMergeMayKeepAShareOfTheProgressMadeInFlight) {
  RotationRecipe recipe;
  recipe.rounds = {round_of(kHalves, 0.2, 2)};
  recipe.progress = 0.25;
  Play play(recipe_of(recipe, 2), {2, 6});
  play.start_from({0, 8});
  play.step(2);  // the mean of (0, 8) is 4, and progress was (4, 12)
  EXPECT_EQ(play.x(0), 4 + 1);
  EXPECT_EQ(play.x(1), 4 + 3);
  play.step(2);
  EXPECT_EQ(play.x(0), 6 + 1);
  EXPECT_EQ(play.x(1), 6 + 3);
}

TEST(Rotation, ACopyThatLeavesBeforeAMergeHasTheSameShareOfProgress) {
  RotationRecipe recipe;
  // Rounds of one step and a half: what was sent at 0 comes at 0.15, is merged at 0.2, and is in
  // what leaves at 0.15.
  recipe.rounds = {round_of(kHalves, 0.15, 2)};
  recipe.progress = 0.5;
  Play play(recipe_of(recipe, 2), {2, 6});
  play.start_from({0, 8});
  play.step();  // (2, 14); what leaves is 4 + (2, 6)/2
  play.step();  // (4, 20): 4 + (4, 12)/2
  EXPECT_EQ(play.x(0), 6);
  EXPECT_EQ(play.x(1), 10);
  play.step();  // (8, 16): the mean of (5, 7) is 6, and 6 + (3, 9)/2
  EXPECT_EQ(play.x(0), 7.5);
  EXPECT_EQ(play.x(1), 10.5);
}

TEST(Rotation, WhoRestsGivesNoProgressUp) {
  RotationRecipe recipe;
  recipe.rounds = {round_of({0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, 0.1, 3)};
  recipe.progress = 0.5;
  Play play(recipe_of(recipe, 3), {2, 6, 1});
  play.start_from({0, 8, 0});
  play.step();
  EXPECT_EQ(play.x(0), 4 + 1);
  EXPECT_EQ(play.x(1), 4 + 3);
  EXPECT_EQ(play.x(2), 1);
}

TEST(Rotation, RoundsThatFollowCloselyConserveTheMean) {
  RotationRecipe recipe;
  // A round is sent in 0.2 and flies for 0.11: fragments of two rounds are under way at once.
  recipe.fragments = 2;
  recipe.rounds = {{0.2, kHalves, {0, 0.1, 0, 0.1}, {0.19, 0.29, 0.19, 0.29}, true}};
  Play play(recipe_of(recipe, 2), {1, 3}, 2);
  play.start_from({0, 8});
  for (int step = 1; step <= 40; ++step) {
    play.step();
    for (int element = 0; element < 2; ++element)
      EXPECT_NEAR(play.x(0, element) + play.x(1, element), 8 + 4 * step, 1e-4);
  }
  // What is unsettled is the progress of the steps that are under way.
  EXPECT_NEAR(play.x(1, 0) - play.x(0, 0), 4, 1e-4);
  EXPECT_NEAR(play.schedule().account().cycle, 0.2, 1e-12);
}

TEST(Rotation, MomentumAtTheSenderIsOnItsOwnIncrements) {
  RotationRecipe recipe;
  recipe.rounds = {round_of(kHalves, 0.1, 2)};
  recipe.momentum = 0.5;
  recipe.momentum_at_sender = true;
  Play play(recipe_of(recipe, 2), {2, 6});
  play.start_from({0, 4});
  // S = (0, 4). After a step x = (2, 10) + (2, −2) = (4, 8); increments (2, 6), v = (2, 6).
  play.step();
  EXPECT_EQ(play.x(0), 4);
  EXPECT_EQ(play.x(1), 8);
  // Sent is (4, 8), mean 6: x = (8, 12). Increments (2, 6), v = (3, 9): sent is (9, 15).
  play.step();
  EXPECT_EQ(play.x(0), 8);
  // Shown with the next merge: x = 8 + 2 + 1 + 12 − 9.
  play.step();
  EXPECT_EQ(play.x(0), 14);
}

TEST(Rotation, MomentumIsInACopyThatLeavesBeforeAMerge) {
  RotationRecipe recipe;
  // Rounds of one step and a half: what was sent at 0 comes at 0.15, is merged at 0.2, and is in
  // what leaves at 0.15.
  recipe.rounds = {round_of(kHalves, 0.15, 2)};
  recipe.momentum = 0.5;
  recipe.momentum_at_sender = true;
  Play play(recipe_of(recipe, 2), {2, 6});
  play.start_from({0, 8});
  play.step();  // (2, 14); what leaves is 4 + v, v = (2, 6)
  play.step();  // (6, 10) and another step's (2, 6)
  EXPECT_EQ(play.x(0), 4 + 4);
  EXPECT_EQ(play.x(1), 4 + 12);
  play.step();  // the mean of (6, 10) is 8; since then (4, 12). What leaves is 8 + v, v = (5, 15)
  EXPECT_EQ(play.x(0), 8 + 4);
  EXPECT_EQ(play.x(1), 8 + 12);
  play.step();
  play.step();  // what leaves is the mean of (13, 23), 18, and v = (2.5 + 2, 7.5 + 6)
  EXPECT_EQ(play.x(0), 18 + 4.5F + 2);
  EXPECT_EQ(play.x(1), 18 + 13.5F + 6);
}

TEST(Rotation, MomentumCountsWhatIsKeptOfProgress) {
  RotationRecipe recipe;
  recipe.rounds = {round_of(kHalves, 0.2, 2)};
  recipe.progress = 0.5;
  recipe.momentum = 0.5;
  recipe.momentum_at_sender = true;
  Play play(recipe_of(recipe, 2), {2, 6});
  play.start_from({0, 8});
  play.step(2);  // the mean of (0, 8) is 4, and half of (4, 12) stays: v = (2, 6)
  EXPECT_EQ(play.x(0), 6);
  EXPECT_EQ(play.x(1), 10);
  play.step(2);  // the mean of 4 + (2, 6) is 8: (10, 14), of which (2, 6) is new: v = (3, 9)
  EXPECT_EQ(play.x(0), 10);
  EXPECT_EQ(play.x(1), 14);
  play.step(2);  // the mean of 8 + (3, 9) is 14, what momentum has added included
  EXPECT_EQ(play.x(0), 16);
  EXPECT_EQ(play.x(1), 20);
}

TEST(Rotation, WhoRestsPushesAndHidesNothing) {
  const std::vector<double> pair = {0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1};
  RotationRecipe recipe;
  recipe.rounds = {round_of(pair, 0.1, 3), round_of({1, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0.5}, 0.1, 3)};
  recipe.momentum = 0.5;
  recipe.momentum_at_sender = true;
  Play momentum(recipe_of(recipe, 3), {2, 6, 1});
  momentum.start_from({0, 4, 100});
  momentum.step(2);  // the last sends for the first time: as it is, 101 beside 8
  EXPECT_EQ(momentum.x(1), 14 + (101.F - 8) / 2);
  EXPECT_EQ(momentum.x(2), 102 - (101.F - 8) / 2);
  recipe.rounds.pop_back();
  recipe.momentum = 0;
  recipe.momentum_at_sender = false;
  recipe.own_weight = 0.5;
  Play own(recipe_of(recipe, 3), {2, 6, 1});
  own.step(2);
  EXPECT_EQ(own.x(2), 2);
}

TEST(Rotation, MomentumAtTheReceiverActsOnAveragesOfEveryone) {
  RotationRecipe recipe;
  recipe.rounds = {round_of(kHalves, 0.1, 2)};
  recipe.momentum = 0.5;
  Play play(recipe_of(recipe, 2), {2, 6});
  play.start_from({0, 4});
  play.step();  // θ = 2, x = (4, 8)
  EXPECT_EQ(play.x(0), 4);
  play.step();  // average 6: v = 4, θ = 6, x = 6 + 6 − 4
  EXPECT_EQ(play.x(0), 8);
  play.step();  // S = (8, 12), average 10: v = 2 + 4, θ = 12, x = 10 + 12 − 8
  EXPECT_EQ(play.x(0), 14);
}

TEST(Rotation, MissingContributionsKeepRowsStochastic) {
  for (const bool own : {false, true}) {
    RotationRecipe recipe;
    recipe.rounds = {round_of(std::vector<double>(9, 1.0 / 3), 0.1, 3)};
    recipe.lost = 0.5;
    recipe.own_for_missing = own;
    Play play(recipe_of(recipe, 3), {0, 0, 0});
    play.start_from({0, 6, 12});
    play.step(1);
    const auto schedule = make_step_schedule(recipe_of(recipe, 3));
    bool anything = false;
    for (std::int64_t s = 1; s < 20; ++s)
      for (const VectorMove& move : schedule->after(s))
        for (const Term& term : move.terms)
          for (std::size_t row = 0; row * 3 < term.mixing.size(); ++row) {
            const double sum =
                term.mixing[row * 3] + term.mixing[row * 3 + 1] + term.mixing[row * 3 + 2];
            EXPECT_NEAR(sum, 1, 1e-12);
            EXPECT_GT(term.mixing[row * 3 + row], 0);
            anything = anything || std::abs(term.mixing[row * 3 + row] - 1.0 / 3) > 1e-9;
          }
    EXPECT_TRUE(anything);
  }
}

// What islands sent, one round after the other: G(k+1) = W(k) G(k) + Δ(k), with the increments Δ
// binned by each island's own copies of each fragment. Between rounds a state is G + Δ, less a
// correction that waits, or plus one that has come.
TEST(Rotation, ACopyCarriesACorrectionThatStillWaits) {
  RotationRecipe recipe;
  recipe.rounds = {round_of(kHalves, 0.15, 2)};
  Play play(recipe_of(recipe, 2), {1, 3});
  play.start_from({0, 8});
  // At 0.15 the average 4 has come: (1, 11) + (4, −4) leaves as (5, 7). It is merged after step 2.
  play.step(2);
  EXPECT_EQ(play.x(0), 2 + 4);
  EXPECT_EQ(play.x(1), 14 - 4);
  // And the average of those, 6, after step 3.
  play.step();
  EXPECT_EQ(play.x(0), 7 + 1);
  EXPECT_EQ(play.x(1), 13 - 1);
}

TEST(Rotation, RoundingOnTheWireIsNotProgressLost) {
  RotationRecipe recipe;
  recipe.rounds = {round_of(kHalves, 0.1, 2)};
  recipe.wire = WireFormat::kBf16;
  // 1 + 2⁻⁸ travels as 1; what was rounded off stays where it was, and is no progress to give up.
  for (const double progress : {1.0, 0.25})
    for (const double momentum : {0.0, 0.5}) {
      recipe.progress = progress;
      recipe.momentum = momentum;
      recipe.momentum_at_sender = momentum > 0;
      Play play(recipe_of(recipe, 2), {0, 0});
      play.start_from({1.00390625F, 3});
      for (int round = 0; round < 3; ++round) {
        play.step();
        EXPECT_EQ(play.x(0), 2.00390625F) << progress << ", " << momentum << ", round " << round;
        EXPECT_EQ(play.x(1), 2);
      }
    }
  recipe.progress = 1;
  recipe.momentum = 0;
  recipe.momentum_at_sender = false;
  // An edge's sum of the two others, 256 + 1, does not fit into eight bits and comes as 256;
  // 256 + 3 comes as 260.
  RotationRecipe three;
  three.rounds = {round_of(std::vector<double>(9, 1.0 / 3), 0.1, 3)};
  three.wire = WireFormat::kBf16;
  Play large(recipe_of(three, 3), {0, 0, 0});
  large.start_from({3, 256, 1});
  large.step();
  EXPECT_FLOAT_EQ(large.x(0), (3 + 256) / 3.0F);
  EXPECT_FLOAT_EQ(large.x(1), (256 + 4) / 3.0F);
  EXPECT_FLOAT_EQ(large.x(2), (1 + 260) / 3.0F);
  recipe.wire = WireFormat::kI32;
  Play grid(recipe_of(recipe, 2), {0, 0});
  grid.start_from({256, 1});
  grid.step();
  EXPECT_EQ(grid.x(0), 128.5);
  EXPECT_EQ(on_wire(0.3F, WireFormat::kI32), std::round(0.3F * 16777216.0F) / 16777216.0F);
  EXPECT_EQ(on_wire(-3.0F, WireFormat::kI32), -3);
}

TEST(Rotation, FragmentsThatAreTreatedAlikeAreOneMove) {
  RotationRecipe recipe;
  recipe.fragments = 8;
  RecipeRound round{0.2, kHalves, {}, {}, true};
  round.leaves.assign(16, 0.0);
  round.arrives.assign(16, 0.2);
  recipe.rounds = {round};
  const std::vector<VectorMove> moves = make_step_schedule(recipe_of(recipe, 2))->after(2);
  ASSERT_EQ(moves.size(), 3u);  // merged; copied, and averaged at once
  EXPECT_EQ(moves[0].count, 8);
  EXPECT_EQ(span_of(moves[0], 80).count, 80);
}

}  // namespace
}  // namespace cotillion
