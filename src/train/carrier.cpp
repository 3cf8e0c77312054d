#include "train/carrier.hpp"

#include <algorithm>

namespace cotillion {
namespace {

class Ideal final : public Carrier {
 public:
  explicit Ideal(const Recipe& recipe) : schedule_(make_step_schedule(recipe)) {}

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    return schedule_->time_after(steps);
  }
  void on_gradients(Learner& learner, std::int64_t step) override {
    for (const VectorMove& move : schedule_->on_gradients(step)) learner.apply(move);
  }
  [[nodiscard]] AroundStep around(std::int64_t step) const override {
    return schedule_->around(step);
  }
  void between(Learner& learner, std::int64_t steps,
               const std::function<void()>& before_merge) override {
    const std::vector<VectorMove> moves = schedule_->after(steps);
    if (std::any_of(moves.begin(), moves.end(), [](const VectorMove& move) { return move.merges; }))
      before_merge();
    for (const VectorMove& move : moves) learner.apply(move);
  }
  [[nodiscard]] bool resumes() const override { return true; }
  [[nodiscard]] ClockSummary account() const override { return schedule_->account(); }

 private:
  std::unique_ptr<StepSchedule> schedule_;
};

}  // namespace

std::unique_ptr<Carrier> ideal_carrier(const Recipe& recipe) {
  return std::make_unique<Ideal>(recipe);
}

}  // namespace cotillion
