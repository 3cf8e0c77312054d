#include "policy/step_schedule.hpp"

#include <algorithm>
#include <numeric>

namespace cotillion {
namespace {

// The GPUs wait after every step until everybody's gradients have been averaged.
class Synchronous final : public StepSchedule {
 public:
  Synchronous(const RecipeCommon& common, const SynchronousRecipe& recipe)
      : common_(common), recipe_(recipe) {}

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    return double(steps) * (common_.step_time + recipe_.exchange);
  }
  [[nodiscard]] std::vector<VectorMove> on_gradients(std::int64_t) const override {
    return {
        {Buffer::kGradient, everyone(common_), {{Buffer::kGradient, 1, average_of_all(common_)}}}};
  }
  [[nodiscard]] std::vector<VectorMove> after(std::int64_t) const override { return {}; }
  [[nodiscard]] ClockSummary account() const override {
    return {recipe_.exchange, recipe_.exchange, common_.step_time + recipe_.exchange};
  }

 private:
  const RecipeCommon common_;
  const SynchronousRecipe recipe_;
};

// Once every H steps: copied at the start of a round, merged at its end. The next round waits where
// the exchange takes longer than the steps. With H = 1 it is D-PSGD: x ← W x − update(x).
class Gossip final : public StepSchedule {
 public:
  Gossip(const RecipeCommon& common, const GossipRecipe& recipe)
      : common_(common), recipe_(recipe) {
    for (const RecipeRound& round : recipe.rounds) {
      starts_.push_back(period_);
      period_ += length(round);
    }
  }

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    const auto rounds = std::int64_t(recipe_.rounds.size());
    const std::int64_t k = steps / recipe_.steps;
    const std::int64_t periods = k / rounds;
    return double(periods) * period_ + starts_[std::size_t(k % rounds)] +
           double(steps % recipe_.steps) * common_.step_time;
  }

  [[nodiscard]] std::vector<VectorMove> after(std::int64_t steps) const override {
    if (steps % recipe_.steps != 0) return {};
    std::vector<VectorMove> moves;
    const std::int64_t k = steps / recipe_.steps;  // rounds that have ended
    if (k > 0) {
      const RecipeRound& round =
          recipe_.rounds[std::size_t((k - 1) % std::int64_t(starts_.size()))];
      moves.push_back({.into = Buffer::kModel,
                       .islands = everyone(common_),
                       .terms = {{Buffer::kSentEven, 1, round.mixing},
                                 {Buffer::kSentEven, -1},
                                 {Buffer::kModel}},
                       .merges = true});
    }
    moves.push_back({Buffer::kSentEven, everyone(common_), {{Buffer::kModel}}});
    return moves;
  }

  [[nodiscard]] ClockSummary account() const override {
    const double cycle = period_ / double(recipe_.rounds.size());
    return {cycle, cycle, cycle};
  }

 private:
  [[nodiscard]] double length(const RecipeRound& round) const {
    return std::max(recipe_.steps * common_.step_time, round.length);
  }
  const RecipeCommon common_;
  const GossipRecipe recipe_;
  std::vector<double> starts_;
  double period_ = 0;
};

}  // namespace

bool follows(const VectorMove& move, const VectorMove& next) {
  return next.fragment == move.fragment + move.count && next.fragments == move.fragments &&
         next.grain == move.grain && next.into == move.into && next.merges == move.merges &&
         next.islands == move.islands && next.terms == move.terms;
}

std::vector<VectorMove> StepSchedule::on_gradients(std::int64_t) const {
  return {};
}

AroundStep StepSchedule::around(std::int64_t) const {
  return {};
}

std::vector<int> everyone(const RecipeCommon& recipe) {
  std::vector<int> islands(recipe.islands.size());
  std::iota(islands.begin(), islands.end(), 0);
  return islands;
}

std::vector<double> average_of_all(const RecipeCommon& recipe) {
  std::vector<double> rows;
  for (std::size_t i = 0; i < recipe.islands.size(); ++i)
    rows.insert(rows.end(), recipe.shares.begin(), recipe.shares.end());
  return rows;
}

SchedulePointer step_schedule_of(const RecipeCommon& common, const GossipRecipe& recipe) {
  return std::make_unique<Gossip>(common, recipe);
}

SchedulePointer step_schedule_of(const RecipeCommon& common, const SynchronousRecipe& recipe) {
  return std::make_unique<Synchronous>(common, recipe);
}

std::unique_ptr<StepSchedule> make_step_schedule(const Recipe& recipe) {
  return std::visit([&](const auto& kind) { return step_schedule_of(recipe, kind); }, recipe.kind);
}

}  // namespace cotillion
