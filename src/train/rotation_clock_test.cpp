// Steps at which islands copy and merge, and a plan's recipe as packets play it.
#include "policy/rotation_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/recipes.hpp"
#include "protocol/move.hpp"
#include "tests/support/plan/plans.hpp"
#include "train/packetised_plan.hpp"

namespace cotillion {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  recipe.islands = {"A"};
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

PlanFile plan() {
  PlanSettings settings;
  settings.step_time = RealDuration::from_ps(50e9);
  return testing::plan_file(testing::example_map("isosceles"), "all-to-all", settings);
}

TEST(PacketisedPlan, FragmentsAreWholePacketsAndRoundsAreThoseOfTheCasting) {
  const PlanFile made = plan();
  const auto recipe = recipe_for(made, "plan:fragments=3", {});
  ASSERT_TRUE(recipe.has_value());
  const std::int64_t elements = 100'003;
  const auto played = packetised(made, *recipe, elements);
  ASSERT_TRUE(played.has_value()) << played.error().message;
  const auto assignment = JobAssignment::make(played->plan, played->job_settings);
  ASSERT_TRUE(assignment.has_value());
  const JobSpec& job = assignment->job();
  for (int f = 0; f < 3; ++f) {
    const Span span = span_of(f, 3, elements, rotation_of(played->recipe).grain);
    EXPECT_EQ(std::uint64_t(span.first), first_element(job, first_chunk(job, f)));
  }
  EXPECT_EQ(span_of(2, 3, elements, rotation_of(played->recipe).grain).first +
                span_of(2, 3, elements, rotation_of(played->recipe).grain).count,
            elements);
  const RecipeRound& round = rotation_of(played->recipe).rounds[0];
  EXPECT_DOUBLE_EQ(round.length, double(assignment->start_of(2, {0}).ps) * 1e-12);
  for (std::size_t at = 0; at < round.leaves.size(); ++at) {
    EXPECT_LT(round.leaves[at], round.arrives[at]);
    EXPECT_LE(round.arrives[at], round.length);
    EXPECT_GE(round.arrives[at], rotation_of(*recipe).rounds[0].arrives[at] - 1e-9);
  }
}

TEST(PacketisedPlan, ASlowerPaceIsTheSameRecipeOnLongerLinks) {
  const PlanFile made = plan();
  const auto recipe = recipe_for(made, "plan:fragments=3", {});
  ASSERT_TRUE(recipe.has_value());
  const auto once = packetised(made, *recipe, 100'000);
  const auto slow = packetised(made, *recipe, 100'000, {Duration{4'000'000'000}, 4});
  ASSERT_TRUE(once.has_value() && slow.has_value());
  for (std::size_t at = 0; at < rotation_of(once->recipe).rounds[0].leaves.size(); ++at) {
    EXPECT_NEAR(rotation_of(slow->recipe).rounds[0].leaves[at],
                rotation_of(once->recipe).rounds[0].leaves[at], 1e-9);
    EXPECT_NEAR(rotation_of(slow->recipe).rounds[0].arrives[at],
                rotation_of(once->recipe).rounds[0].arrives[at], 1e-9);
  }
  EXPECT_EQ(slow->plan.map.links[0].latency[0].ps, 4 * made.map.links[0].latency[0].ps);
  const auto never = packetised(made, *recipe, 100'000, {Duration{1}, 1000});
  ASSERT_FALSE(never.has_value());
  EXPECT_THAT(never.error().message, HasSubstr("is possible"));
}

TEST(PacketisedPlan, ASlowerPaceStretchesWhatBefallsLinks) {
  Faults faults;
  faults.lanes.push_back({Mishap::kJitter, {0}, 1, 1, Duration{2}, Duration{3}, Duration{50}});
  faults.lanes.push_back({Mishap::kDown, {1}});
  const Faults slow = slowed(faults, 4);
  EXPECT_EQ(slow.lanes[0].by.ps, 8);
  EXPECT_EQ(slow.lanes[0].from.ps, 12);
  EXPECT_EQ(slow.lanes[0].until.ps, 200);
  EXPECT_EQ(slow.lanes[1].until.ps, faults.lanes[1].until.ps);  // for ever
}

TEST(PacketisedPlan, RefusesWhatPacketsDoNotPlay) {
  const PlanFile made = plan();
  const auto rival = recipe_for(made, "synchronous", {});
  ASSERT_TRUE(rival.has_value());
  EXPECT_THAT(packetised(made, *rival, 1000).error().message, HasSubstr("the plan's own policy"));
  RecipeSettings weighted;
  weighted.shares = {1, 2, 1};
  const auto unequal = recipe_for(made, "plan", weighted);
  ASSERT_TRUE(unequal.has_value());
  EXPECT_THAT(packetised(made, *unequal, 1000).error().message, HasSubstr("unequal weight"));
}

}  // namespace
}  // namespace cotillion
