// What carries corrections between islands that learn. The ideal one plays a schedule: W(k) applied
// exactly, with planned times for a clock. Others host the real protocol, in virtual time
// (simulated_carrier.hpp) or on a real network.
#pragma once

#include <functional>

#include "learn/learner.hpp"
#include "policy/step_schedule.hpp"

namespace cotillion {

class Carrier {
 public:
  virtual ~Carrier() = default;

  [[nodiscard]] virtual double time_after(std::int64_t steps) const = 0;
  virtual void on_gradients(Learner& learner, std::int64_t step) = 0;
  // What goes with the update of a step.
  [[nodiscard]] virtual AroundStep around(std::int64_t step) const = 0;
  // So many steps have been taken; leaves the models as they are when the next step begins. Called
  // for 0, 1, 2, … in order, or from any step on where `resumes`. `before_merge` is called while
  // the models are still as far apart as they get.
  virtual void between(Learner& learner, std::int64_t steps,
                       const std::function<void()>& before_merge) = 0;
  // Whether it can go on from the learner's vectors alone.
  [[nodiscard]] virtual bool resumes() const = 0;
  [[nodiscard]] virtual ClockSummary account() const = 0;
};

[[nodiscard]] std::unique_ptr<Carrier> ideal_carrier(const Recipe& recipe);

}  // namespace cotillion
