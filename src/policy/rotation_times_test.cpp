// When rounds are too short for steps, worked by hand.
#include "policy/rotation_times.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

const std::vector<double> kFirstPair = {0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1};
const std::vector<double> kLastPair = {1, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0.5};

Recipe recipe_of(std::vector<RecipeRound> rounds) {
  Recipe recipe;
  recipe.islands = {"A", "B", "C"};
  recipe.step_time = 0.1;
  rotation_of(recipe).rounds = std::move(rounds);
  return recipe;
}

double lacking(const Recipe& recipe) {
  return RotationTimes(recipe, rotation_of(recipe)).lacking();
}

TEST(RotationTimes, WhoRestsMeetsSomebodyInARoundThatIsFurtherAway) {
  const Recipe recipe = recipe_of({{0.1, kFirstPair, {0, 0, 0}, {0.1, 0.1, 0.1}, false},
                                   {0.1, kLastPair, {0, 0, 0}, {0.1, 0.1, 0.1}, false}});
  const RotationTimes times(recipe, rotation_of(recipe));
  EXPECT_TRUE(times.meets(0, 0));
  EXPECT_FALSE(times.meets(1, 0));
  EXPECT_EQ(times.before(0, 0), -1);
  EXPECT_EQ(times.before(2, 0), 0);
  EXPECT_EQ(times.next(0, 0), 2);
  EXPECT_EQ(times.before(2, 1), 1);
  EXPECT_EQ(times.next(1, 1), 2);
  EXPECT_EQ(times.before(1, 2), -1);
  EXPECT_EQ(times.next(1, 2), 3);
  EXPECT_EQ(times.lacking(), 0);
}

TEST(RotationTimes, ArrivalsMayComeAfterTheNextRoundHasBegun) {
  const Recipe recipe = recipe_of({{0.1, kFirstPair, {0, 0, 0}, {0.17, 0.1, 0.1}, false},
                                   {0.1, kLastPair, {0, 0.01, 0}, {0.1, 0.1, 0.12}, false}});
  const RotationTimes times(recipe, rotation_of(recipe));
  EXPECT_EQ(times.lacking(), 0);
  EXPECT_NEAR(times.beyond(), 0.07, 1e-12);
  EXPECT_NEAR(times.arrives(2, 0, 0), 0.37, 1e-12);
  EXPECT_NEAR(times.leaves(3, 1, 0), 0.31, 1e-12);
  EXPECT_EQ(times.round_at(0.15), 1);
}

TEST(RotationTimes, RoundsAreLongerWhereAFragmentWouldLeaveBeforeItsMerge) {
  // What B hears of A at 0.25 is to leave for C at 0.2.
  const Recipe recipe = recipe_of({{0.2, kFirstPair, {0, 0, 0}, {0.2, 0.25, 0.2}, false},
                                   {0.2, kLastPair, {0, 0, 0}, {0.2, 0.2, 0.2}, false}});
  EXPECT_NEAR(lacking(recipe), 0.05, 1e-12);
}

TEST(RotationTimes, RoundsAreLongerWhereThereWouldBeMoreCopiesThanSteps) {
  // B copies twice in 0.15 s, in which there are one and a half steps.
  Recipe recipe = recipe_of({{0.1, kFirstPair, {0, 0, 0}, {0.05, 0.05, 0}, false},
                             {0.05, kLastPair, {0, 0, 0}, {0, 0.05, 0.05}, false}});
  EXPECT_NEAR(lacking(recipe), 0.025, 1e-12);
  for (RecipeRound& round : rotation_of(recipe).rounds) round.length += 0.025;
  EXPECT_EQ(lacking(recipe), 0);
}

TEST(RotationTimes, RoundsAreLongerWhereCorrectionsOfTwoRoundsWouldWaitInOneStep) {
  // C hears of B at 0.29 and waits until then with its own copy, which B has at 0.3; and what B
  // then sends, at 0.32, leaves in the step in which C's correction may still wait.
  const std::vector<double> everyone(9, 1.0 / 3);
  Recipe recipe = recipe_of({{0.12, everyone, {0, 0, 0.1}, {0.11, 0.11, 0.21}, true}});
  EXPECT_NEAR(lacking(recipe), (0.21 + 0.1 - 2 * 0.12) / 2, 1e-12);
  // Own weights keep the even rounds' copies apart from the odd ones', and that is enough.
  rotation_of(recipe).own_weight = 0.5;
  EXPECT_FALSE(RotationTimes(recipe, rotation_of(recipe)).one_copy());
  EXPECT_NEAR(lacking(recipe), (0.21 + 0.1 - 2 * 0.12) / 2, 1e-12);
}

}  // namespace
}  // namespace cotillion
