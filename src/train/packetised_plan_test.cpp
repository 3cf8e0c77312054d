// A plan's recipe as packets play it.
#include "train/packetised_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/recipes.hpp"
#include "policy/rotation_times.hpp"
#include "protocol/move.hpp"
#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;

PlanFile plan() {
  PlanSettings settings;
  settings.step_time = RealDuration::from_ps(50e9);
  return testing::plan_file(testing::example_map("isosceles"), "all-to-all", settings);
}

TEST(PacketisedPlan, FragmentsAreWholePacketsAndRoundsAreThoseOfTheAssignment) {
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

PlanFile overlapping_plan(double step) {
  PlanSettings settings;
  settings.step_time = RealDuration::from_ps(step);
  settings.relax.overlap = true;
  settings.objective = Objective::kPaperStreamed;
  settings.fragments = 4;
  const PlanFile made = testing::plan_file(testing::example_map("isosceles"), "pairs", settings);
  EXPECT_TRUE(made.plan.overlapped);
  return made;
}

TEST(PacketisedPlan, RoundsThatOverlapDoSoPacketByPacket) {
  for (const double step : {50e9, 450e9}) {
    const PlanFile made = overlapping_plan(step);
    const auto recipe = recipe_for(made, "plan", {});
    ASSERT_TRUE(recipe.has_value()) << recipe.error().message;
    const auto played = packetised(made, *recipe, 100'003);
    ASSERT_TRUE(played.has_value()) << played.error().message;
    EXPECT_TRUE(played->plan.plan.overlapped);
    EXPECT_EQ(played->job_settings.exchange, Exchange::kStreamed);
    const RotationRecipe &fluid = rotation_of(*recipe), &packets = rotation_of(played->recipe);
    ASSERT_EQ(packets.fragments, 4);
    const RotationTimes times(played->recipe, packets);
    EXPECT_EQ(times.lacking(), 0);
    EXPECT_GT(times.beyond(), 0.005);
    for (std::size_t k = 0; k < packets.rounds.size(); ++k) {
      EXPECT_GE(packets.rounds[k].length, fluid.rounds[k].length - 1e-9);
      EXPECT_LT(packets.rounds[k].length, fluid.rounds[k].length + 0.05);
      for (int i = 0; i < 3; ++i)
        for (std::size_t f = 0; f < 4 && times.meets(std::int64_t(k), i); ++f) {
          const std::size_t at = std::size_t(i) * 4 + f;
          EXPECT_NEAR(packets.rounds[k].leaves[at], fluid.rounds[k].leaves[at], 0.01);
          EXPECT_NEAR(packets.rounds[k].arrives[at], fluid.rounds[k].arrives[at], 0.05);
        }
    }
    const auto slow = packetised(made, *recipe, 100'003, {Duration{4'000'000'000}, 4});
    ASSERT_TRUE(slow.has_value()) << slow.error().message;
    for (std::size_t k = 0; k < packets.rounds.size(); ++k)
      EXPECT_NEAR(rotation_of(slow->recipe).rounds[k].length, packets.rounds[k].length, 1e-9);
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

TEST(PacketisedPlan, ASlowerPaceStretchesFaultsOfLinks) {
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
