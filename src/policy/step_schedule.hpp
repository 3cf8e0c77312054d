// A recipe played step by step: which moves come between which steps, and what the clock shows. All
// islands step together, so that one batched pass trains them all. Nothing here has a memory: the
// moves after step s follow from s, and a run can be resumed anywhere.
//
// Copies and merges take effect between steps. A merge waits for the end of the step under which it
// arrives. A copy takes the parameters that are there when its bytes must leave, those of the last
// finished step, and with them a correction that has come and still waits.
#pragma once

#include <memory>

#include "policy/recipe.hpp"
#include "protocol/move.hpp"

namespace cotillion {

// What a recipe's clock amounts to.
struct ClockSummary {
  double delay_mean = 0;  // seconds from a copy to its merge, waits for steps included
  double delay_max = 0;
  double cycle = 0;  // seconds from one exchange to the next, mean
};

class StepSchedule {
 public:
  virtual ~StepSchedule() = default;

  // Seconds on the clock when so many steps have been taken and the next may begin.
  [[nodiscard]] virtual double time_after(std::int64_t steps) const = 0;
  // On gradients, after the backward pass of a step and before its update; steps count from 1.
  [[nodiscard]] virtual std::vector<VectorMove> on_gradients(std::int64_t step) const;
  // With the update of a step; steps count from 1.
  [[nodiscard]] virtual AroundStep around(std::int64_t step) const;
  // After so many steps; after 0 is before the first.
  [[nodiscard]] virtual std::vector<VectorMove> after(std::int64_t steps) const = 0;
  [[nodiscard]] virtual ClockSummary account() const = 0;
};

[[nodiscard]] std::unique_ptr<StepSchedule> make_step_schedule(const Recipe& recipe);

// One for each kind of recipe. Those of rivals that are related share a file.
using SchedulePointer = std::unique_ptr<StepSchedule>;
[[nodiscard]] SchedulePointer step_schedule_of(const RecipeCommon&, const RotationRecipe&);
[[nodiscard]] SchedulePointer step_schedule_of(const RecipeCommon&, const GossipRecipe&);
[[nodiscard]] SchedulePointer step_schedule_of(const RecipeCommon&, const SynchronousRecipe&);
[[nodiscard]] SchedulePointer step_schedule_of(const RecipeCommon&, const OuterRecipe&);
[[nodiscard]] SchedulePointer step_schedule_of(const RecipeCommon&, const StreamingRecipe&);
[[nodiscard]] SchedulePointer step_schedule_of(const RecipeCommon&, const EagerRecipe&);
[[nodiscard]] SchedulePointer step_schedule_of(const RecipeCommon&, const PairsRecipe&);
[[nodiscard]] SchedulePointer step_schedule_of(const RecipeCommon&, const ServersRecipe&);

// Moves are made of these.
[[nodiscard]] std::vector<int> everyone(const RecipeCommon& recipe);
// Every row the same: the islands' shares.
[[nodiscard]] std::vector<double> average_of_all(const RecipeCommon& recipe);

}  // namespace cotillion
