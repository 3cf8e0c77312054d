// Schedules of steps on a few islands whose models are a few plain numbers, so that what a policy
// does can be worked out by hand.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "learn/plain_vectors.hpp"
#include "policy/step_schedule.hpp"

namespace cotillion::testing {

inline constexpr double kStep = 0.1;

// On so many islands of equal weight.
inline Recipe recipe_of(decltype(Recipe::kind) kind, int islands) {
  Recipe recipe{{}, std::move(kind)};
  recipe.step_time = kStep;
  for (int i = 0; i < islands; ++i) recipe.islands.push_back(std::string(1, char('A' + i)));
  recipe.shares.assign(std::size_t(islands), 1.0 / islands);
  return recipe;
}

inline RecipeRound round_of(std::vector<double> mixing, double length, int islands,
                            int fragments = 1) {
  RecipeRound round{length, std::move(mixing), {}, {}, true};
  for (int i = 0; i < islands; ++i)
    for (int f = 0; f < fragments; ++f) {
      round.leaves.push_back(fragments == 1 ? 0 : length * f / (2 * fragments));
      round.arrives.push_back(fragments == 1 ? length
                                             : length / 2 + length * (f + 1) / (2 * fragments));
    }
  return round;
}

inline const std::vector<double> kHalves = {0.5, 0.5, 0.5, 0.5};

// Plays steps in which island i adds add[i] to each element.
class Play {
 public:
  Play(const Recipe& recipe, std::vector<float> add, std::int64_t elements = 1)
      : schedule_(make_step_schedule(recipe)),
        rows_(island_count(recipe), elements),
        add_(std::move(add)),
        elements_(elements) {
    moves(0);
  }
  std::function<void()> with_update;  // what else an optimizer does to rows
  void start_from(std::vector<float> x) {
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::int64_t e = 0; e < elements_; ++e) rows_.at(Buffer::kModel, int(i), e) = x[i];
    moves(0);
  }
  void step(int count = 1) {
    for (int s = 0; s < count; ++s) {
      ++steps_;
      for (int i = 0; i < rows_.islands(); ++i)
        for (std::int64_t e = 0; e < elements_; ++e)
          rows_.at(Buffer::kGradient, i, e) = add_[std::size_t(i)];
      for (const VectorMove& move : schedule_->on_gradients(steps_)) rows_.apply(move);
      const AroundStep around = schedule_->around(steps_);
      for (const VectorMove& move : around.before) rows_.apply(move);
      for (int i = 0; i < rows_.islands(); ++i)
        for (std::int64_t e = 0; e < elements_; ++e)
          rows_.at(Buffer::kModel, i, e) += rows_.at(Buffer::kGradient, i, e);
      if (with_update) with_update();
      for (const VectorMove& move : around.after) rows_.apply(move);
      moves(steps_);
    }
  }
  [[nodiscard]] float x(int island, std::int64_t element = 0) {
    return rows_.at(Buffer::kModel, island, element);
  }
  [[nodiscard]] PlainVectors& rows() { return rows_; }
  [[nodiscard]] const StepSchedule& schedule() const { return *schedule_; }

 private:
  void moves(std::int64_t steps) {
    for (const VectorMove& move : schedule_->after(steps)) rows_.apply(move);
  }
  std::unique_ptr<StepSchedule> schedule_;
  PlainVectors rows_;
  std::vector<float> add_;
  std::int64_t elements_;
  std::int64_t steps_ = 0;
};

}  // namespace cotillion::testing
