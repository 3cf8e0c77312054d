// Steps at which islands copy and merge.
#include "policy/rotation_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cotillion {
namespace {

using ::testing::ElementsAre;

// Two islands, rounds of two and a half steps, whole.
Recipe two_and_a_half() {
  Recipe recipe;
  recipe.islands = {"A", "B", "C"};
  recipe.shares = {0.3, 0.3, 0.4};
  recipe.step_time = 0.1;
  rotation_of(recipe).rounds = {
      {0.25, {0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, {0, 0, 0}, {0.25, 0.25, 0.25}, false}};
  return recipe;
}

TEST(RotationClock, ACopyTakesTheLastFinishedStepAndAMergeTheNext) {
  const Recipe recipe = two_and_a_half();
  const RotationClock clock(recipe);
  EXPECT_EQ(clock.copy_step(0, 0, 0), 0);
  EXPECT_EQ(clock.merge_step(0, 0, 0), 3);
  EXPECT_EQ(clock.copy_step(1, 0, 0), 2);  // while the correction of round 0 waits for step 3
  EXPECT_TRUE(clock.copies_ahead(1, 0, 0));
  EXPECT_EQ(clock.merge_step(1, 0, 0), 5);
  EXPECT_FALSE(clock.copies_ahead(2, 0, 0));
  ASSERT_EQ(clock.copies(0, 2).size(), 1u);
  EXPECT_EQ(clock.copies(0, 2)[0].round, 1);
  ASSERT_EQ(clock.merges(0, 3).size(), 1u);
  EXPECT_EQ(clock.merges(0, 3)[0].round, 0);
  EXPECT_TRUE(clock.merges(0, 4).empty());
}

TEST(RotationClock, WhoeverMeetsNobodyHasNoAppointments) {
  const Recipe recipe = two_and_a_half();
  const RotationClock clock(recipe);
  EXPECT_FALSE(clock.meets(0, 2));
  for (int step = 0; step < 20; ++step) {
    EXPECT_TRUE(clock.copies(2, step).empty());
    EXPECT_TRUE(clock.merges(2, step).empty());
  }
}

TEST(RotationClock, EveryRoundIsCopiedAndMergedOnceAndInOrder) {
  Recipe recipe = two_and_a_half();
  RotationRecipe& rotation = rotation_of(recipe);
  rotation.fragments = 2;
  rotation.rounds[0].leaves = {0.03, 0.12, 0, 0.1, 0, 0};
  rotation.rounds[0].arrives = {0.17, 0.25, 0.16, 0.25, 0.25, 0.25};
  const RotationClock clock(recipe);
  for (int island = 0; island < 2; ++island)
    for (int f = 0; f < 2; ++f) {
      std::int64_t copied = 0, merged = 0;
      for (int step = 0; step < 200; ++step) {
        for (const auto& due : clock.copies(island, step))
          if (due.fragment == f) {
            EXPECT_EQ(due.round, copied++);
          }
        for (const auto& due : clock.merges(island, step))
          if (due.fragment == f) {
            EXPECT_EQ(due.round, merged++);
          }
        EXPECT_LE(merged, copied);
        EXPECT_LE(copied, merged + 2);
      }
      EXPECT_GE(merged, 75);
    }
}

TEST(RotationClock, CountsTheCopiesInFlight) {
  Recipe recipe = two_and_a_half();
  RotationRecipe& rotation = rotation_of(recipe);
  // One waits for its merge while the next has left: that one is still in the parameters.
  EXPECT_DOUBLE_EQ(copies_in_flight(recipe, 100), 1);
  rotation.own_weight = 0.5;
  EXPECT_DOUBLE_EQ(copies_in_flight(recipe, 100), 2);
  rotation.own_weight = 1;
  rotation.rounds[0].length = 0.3;
  rotation.rounds[0].arrives = {0.3, 0.3, 0.3};
  EXPECT_DOUBLE_EQ(copies_in_flight(recipe, 100), 1);
  rotation.fragments = 4;
  rotation.rounds[0].leaves = {0, 0.1, 0.2, 0.2, 0, 0, 0, 0, 0, 0, 0, 0};
  rotation.rounds[0].arrives.assign(12, 0.1);
  rotation.rounds[0].arrives[1] = 0.2;
  rotation.rounds[0].arrives[2] = rotation.rounds[0].arrives[3] = 0.3;
  recipe.islands = {"A", "B"};
  rotation.rounds[0].mixing = {0.5, 0.5, 0.5, 0.5};
  for (std::vector<double>* times : {&rotation.rounds[0].leaves, &rotation.rounds[0].arrives}) {
    times->resize(8);
    std::copy_n(times->begin(), 4, times->begin() + 4);
  }
  EXPECT_DOUBLE_EQ(copies_in_flight(recipe, 100), 0.5);
}

TEST(RotationClock, OneCopyIsEnoughWhereAllHaveCopiedBeforeTheFirstMerges) {
  Recipe recipe = two_and_a_half();
  RotationRecipe& rotation = rotation_of(recipe);
  EXPECT_TRUE(RotationClock(recipe).one_copy());
  EXPECT_THAT(RotationClock(recipe).groups(7), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_EQ(RotationClock(recipe).kept_from(1, 0, 0), 3);  // copied after step 2, and ahead
  EXPECT_EQ(RotationClock(recipe).kept_from(2, 0, 0), 5);
  rotation.momentum = 0.1;  // the receiver's
  EXPECT_FALSE(RotationClock(recipe).one_copy());
  rotation.momentum_at_sender = true;
  EXPECT_TRUE(RotationClock(recipe).one_copy());
  rotation.momentum_at_sender = false;
  rotation.momentum = 0;
  // B leaves when A has been told already, by somebody whom B does not hear.
  rotation.rounds[0].leaves = {0, 0.2, 0};
  rotation.rounds[0].arrives = {0.15, 0.25, 0.25};
  EXPECT_FALSE(RotationClock(recipe).one_copy());
  rotation.rounds[0].mixing = {0.5, 0, 0.5, 0, 1, 0, 0.5, 0, 0.5};
  EXPECT_TRUE(RotationClock(recipe).one_copy());
}

}  // namespace
}  // namespace cotillion
