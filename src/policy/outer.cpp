// Rivals with an outer optimizer. θ is what it steps, v its momentum, g = θ − average of x its
// gradient:  v ← μv + g,  θ ← θ − rate·(g + μv).
#include <algorithm>
#include <cmath>

#include "policy/step_schedule.hpp"

namespace cotillion {
namespace {

constexpr double kOuterRounding = 1e-9;  // of a step

std::vector<double> times(std::vector<double> matrix, double factor) {
  for (double& weight : matrix) weight *= factor;
  return matrix;
}

// What they share: H steps, then an exchange, part of which everybody waits for.
class OuterSchedule : public StepSchedule {
 public:
  OuterSchedule(const RecipeCommon& common, int steps, double exchange, double idle)
      : common_(common), steps_(steps), exchange_(exchange), idle_(idle), all_(everyone(common)) {}

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    const std::int64_t exchanges = steps / steps_;
    return double(steps) * common_.step_time + double(exchanges) * idle_;
  }
  [[nodiscard]] std::vector<VectorMove> after(std::int64_t steps) const override {
    if (steps == 0) return {{Buffer::kTheta, all_, {{Buffer::kModel}}}};
    return steps % steps_ == 0 ? exchange(steps / steps_ - 1) : std::vector<VectorMove>{};
  }
  [[nodiscard]] ClockSummary account() const override {
    return {exchange_, exchange_, steps_ * common_.step_time + idle_};
  }

 protected:
  [[nodiscard]] virtual std::vector<VectorMove> exchange(std::int64_t number) const = 0;

  [[nodiscard]] VectorMove merging(Buffer into, std::vector<Term> terms) const {
    return {.into = into, .islands = all_, .terms = std::move(terms), .merges = true};
  }

  const RecipeCommon common_;
  const int steps_;               // H
  const double exchange_, idle_;  // seconds; mean, where exchanges differ
  const std::vector<int> all_;
};

// Everybody waits for the exchange: averages of models, or DiLoCo.
class Blocking final : public OuterSchedule {
 public:
  Blocking(const RecipeCommon& common, const OuterRecipe& recipe)
      : OuterSchedule(common, recipe.steps, recipe.exchange, recipe.exchange), recipe_(recipe) {}

  [[nodiscard]] std::vector<VectorMove> after(std::int64_t steps) const override {
    // Averages alone need no θ.
    if (steps == 0 && !recipe_.nesterov) return {};
    return OuterSchedule::after(steps);
  }

 private:
  [[nodiscard]] std::vector<VectorMove> exchange(std::int64_t) const override {
    const std::vector<double> average = average_of_all(common_);
    if (!recipe_.nesterov) return {merging(Buffer::kModel, {{Buffer::kModel, 1, average}})};
    const double rate = recipe_.outer_rate;
    return {merging(Buffer::kVelocity, {{Buffer::kVelocity, recipe_.momentum},
                                        {Buffer::kTheta},
                                        {Buffer::kModel, 1, times(average, -1)}}),
            {Buffer::kTheta,
             all_,
             {{Buffer::kTheta, 1 - rate},
              {Buffer::kModel, 1, times(average, rate)},
              {Buffer::kVelocity, -rate * recipe_.momentum}}},
            {Buffer::kModel, all_, {{Buffer::kTheta}}}};
  }

  const OuterRecipe recipe_;
};

// Each of F fragments once every H steps. Copies are taken at the ends of steps, and those that are
// taken together pass one after the other: the exchange of each is over after so many steps,
// through which training goes on. Then x ← αx + (1−α)θ.
class Streaming final : public StepSchedule {
 public:
  Streaming(const RecipeCommon& common, const StreamingRecipe& recipe)
      : common_(common), recipe_(recipe), all_(everyone(common)) {
    int ahead = 0;  // of fragments that leave together, how many pass before this one
    for (int f = 0; f < recipe.fragments; ++f) {
      phases_.push_back(int(std::int64_t(f) * recipe.steps / recipe.fragments));
      const bool together = f > 0 && phases_[std::size_t(f)] == phases_[std::size_t(f) - 1];
      ahead = together ? ahead + 1 : 0;
      const double flight = recipe.latency + (ahead + 1) * recipe.serialisation / recipe.fragments;
      const int steps =
          flight > 0 ? int(std::ceil(flight / common.step_time - kOuterRounding)) : recipe.overlap;
      overlaps_.push_back(std::clamp(steps, 1, recipe.steps));
    }
  }

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    return double(steps) * common_.step_time;
  }
  [[nodiscard]] std::vector<VectorMove> after(std::int64_t steps) const override {
    if (steps == 0) return {{Buffer::kTheta, all_, {{Buffer::kModel}}}};
    std::vector<VectorMove> moves;
    for (int f = 0; f < recipe_.fragments; ++f) {
      // Nothing is copied before the first step.
      const std::int64_t phase = phases_[std::size_t(f)];
      const std::int64_t first = phase > 0 ? phase : recipe_.steps;
      const std::int64_t copied = steps - overlaps_[std::size_t(f)];
      if (copied >= first && (copied - first) % recipe_.steps == 0) merge(moves, f);
      if (steps >= first && (steps - first) % recipe_.steps == 0)
        moves.push_back({Buffer::kSentEven,
                         all_,
                         {{Buffer::kTheta}, {Buffer::kModel, -1}},
                         f,
                         recipe_.fragments});
    }
    return moves;
  }
  [[nodiscard]] ClockSummary account() const override {
    double mean = 0, most = 0;
    for (const int overlap : overlaps_) {
      mean += overlap * common_.step_time / double(overlaps_.size());
      most = std::max(most, overlap * common_.step_time);
    }
    return {mean, most, recipe_.steps * common_.step_time};
  }

 private:
  void merge(std::vector<VectorMove>& moves, int f) const {
    const Buffer s = Buffer::kSentEven;
    const std::vector<double> average = average_of_all(common_);
    const double rate = recipe_.outer_rate;
    const auto add = [&](Buffer into, std::vector<Term> terms) {
      moves.push_back({into, all_, std::move(terms), f, recipe_.fragments});
    };
    if (recipe_.momentum > 0)
      add(Buffer::kVelocity,
          {{Buffer::kVelocity, recipe_.momentum}, {s, 1, average, recipe_.wire}});
    std::vector<Term> step = {{Buffer::kTheta}, {s, 1, times(average, -rate), recipe_.wire}};
    if (recipe_.momentum > 0) step.push_back({Buffer::kVelocity, -rate * recipe_.momentum});
    add(Buffer::kTheta, std::move(step));
    moves.back().merges = true;
    add(Buffer::kModel, {{Buffer::kModel, recipe_.keep}, {Buffer::kTheta, 1 - recipe_.keep}});
  }

  const RecipeCommon common_;
  const StreamingRecipe recipe_;
  const std::vector<int> all_;
  std::vector<int> phases_, overlaps_;  // by fragment, in steps
};

// The mean of everyone's last progress comes a phase late; an island's own share of it is fresh.
class Eager final : public OuterSchedule {
 public:
  // The exchange has a whole phase; what it needs beyond that is waited for.
  Eager(const RecipeCommon& common, const EagerRecipe& recipe)
      : OuterSchedule(common, recipe.steps, recipe.exchange,
                      std::max(0.0, recipe.exchange - recipe.steps * common.step_time)),
        recipe_(recipe) {}

 private:
  [[nodiscard]] std::vector<VectorMove> exchange(std::int64_t) const override {
    const std::vector<double> average = average_of_all(common_);
    const double rate = recipe_.outer_rate;
    // Everyone's but one's own: the average with π_i taken off the diagonal.
    std::vector<double> others = average, fresh(average.size(), 0.0);
    const std::size_t n = all_.size();
    for (std::size_t i = 0; i < n; ++i) {
      others[i * n + i] = 0;
      fresh[i * n + i] = average[i * n + i];
    }
    return {{Buffer::kSentEven, all_, {{Buffer::kTheta}, {Buffer::kModel, -1}}},
            merging(Buffer::kVelocity, {{Buffer::kVelocity, recipe_.momentum},
                                        {Buffer::kSentEven, 1, fresh},
                                        {Buffer::kEarlier, 1, others}}),
            {Buffer::kTheta,
             all_,
             {{Buffer::kTheta},
              {Buffer::kSentEven, 1, times(fresh, -rate)},
              {Buffer::kEarlier, 1, times(others, -rate)},
              {Buffer::kVelocity, -rate * recipe_.momentum}}},
            {Buffer::kEarlier, all_, {{Buffer::kSentEven}}},
            {Buffer::kModel, all_, {{Buffer::kTheta}}}};
  }

  const EagerRecipe recipe_;
};

// NoLoCo: random pairs in place of everyone, and a pull towards the pair's mean:
// v ← μv + rate·W(x − θ) − γ(θ − Wθ),  θ ← θ + v.
class RandomPairs final : public OuterSchedule {
 public:
  RandomPairs(const RecipeCommon& common, const PairsRecipe& recipe)
      : RandomPairs(common, recipe, starts_of(recipe)) {}

  // Pairs differ, and so does how long they wait.
  [[nodiscard]] double time_after(std::int64_t steps) const override {
    const auto rounds = std::int64_t(recipe_.rounds.size());
    const std::int64_t k = steps / recipe_.steps;
    const std::int64_t periods = k / rounds;
    return double(steps) * common_.step_time + double(periods) * starts_.back() +
           starts_[std::size_t(k % rounds)];
  }

 private:
  RandomPairs(const RecipeCommon& common, const PairsRecipe& recipe, std::vector<double> starts)
      : OuterSchedule(common, recipe.steps, starts.back() / double(recipe.rounds.size()),
                      starts.back() / double(recipe.rounds.size())),
        recipe_(recipe),
        starts_(std::move(starts)) {}
  static std::vector<double> starts_of(const PairsRecipe& recipe) {
    std::vector<double> starts = {0};
    for (const RecipeRound& round : recipe.rounds) starts.push_back(starts.back() + round.length);
    return starts;
  }
  [[nodiscard]] std::vector<VectorMove> exchange(std::int64_t k) const override {
    const std::vector<double>& pairs =
        recipe_.rounds[std::size_t(k % std::int64_t(recipe_.rounds.size()))].mixing;
    const double rate = recipe_.outer_rate;
    return {merging(Buffer::kVelocity, {{Buffer::kVelocity, recipe_.momentum},
                                        {Buffer::kModel, 1, times(pairs, rate)},
                                        {Buffer::kTheta, 1, times(pairs, recipe_.pull - rate)},
                                        {Buffer::kTheta, -recipe_.pull}}),
            {Buffer::kTheta, all_, {{Buffer::kTheta}, {Buffer::kVelocity}}},
            {Buffer::kModel, all_, {{Buffer::kTheta}}}};
  }
  const PairsRecipe recipe_;
  std::vector<double> starts_;  // idle time before each exchange of a period, summed
};

}  // namespace

SchedulePointer step_schedule_of(const RecipeCommon& common, const OuterRecipe& recipe) {
  return std::make_unique<Blocking>(common, recipe);
}

SchedulePointer step_schedule_of(const RecipeCommon& common, const StreamingRecipe& recipe) {
  return std::make_unique<Streaming>(common, recipe);
}

SchedulePointer step_schedule_of(const RecipeCommon& common, const EagerRecipe& recipe) {
  return std::make_unique<Eager>(common, recipe);
}

SchedulePointer step_schedule_of(const RecipeCommon& common, const PairsRecipe& recipe) {
  return std::make_unique<RandomPairs>(common, recipe);
}

}  // namespace cotillion
