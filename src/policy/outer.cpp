// Rivals with an outer optimizer. θ is what it steps, v its momentum, g = θ − average of x its
// gradient:  v ← μv + g,  θ ← θ − rate·(g + μv).
#include <algorithm>
#include <cmath>

#include "policy/step_schedule.hpp"

namespace cotillion {
namespace {

constexpr double kRounding = 1e-9;  // of a step

class Outer : public StepSchedule {
 public:
  explicit Outer(const Recipe& recipe) : recipe_(recipe), all_(everyone(recipe)) {}

  // H steps, then everybody waits for the exchange.
  [[nodiscard]] double time_after(std::int64_t steps) const override {
    const std::int64_t exchanges = steps / recipe_.steps;
    return double(steps) * recipe_.step_time + double(exchanges) * idle();
  }
  [[nodiscard]] std::vector<VectorMove> after(std::int64_t steps) const override {
    // Averages alone need no θ.
    if (steps == 0 && recipe_.kind == Recipe::Kind::kOuter && !recipe_.nesterov) return {};
    if (steps == 0) return {{Buffer::kTheta, all_, {{Buffer::kModel}}}};
    return steps % recipe_.steps == 0 ? exchange(steps / recipe_.steps - 1)
                                      : std::vector<VectorMove>{};
  }
  [[nodiscard]] ClockSummary account() const override {
    return {recipe_.exchange, recipe_.exchange, recipe_.steps * recipe_.step_time + idle()};
  }

 protected:
  [[nodiscard]] virtual double idle() const { return recipe_.exchange; }
  [[nodiscard]] virtual std::vector<VectorMove> exchange(std::int64_t) const {
    const std::vector<double> average = average_of_all(recipe_);
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

  [[nodiscard]] VectorMove merging(Buffer into, std::vector<Term> terms) const {
    return {.into = into, .islands = all_, .terms = std::move(terms), .merges = true};
  }
  static std::vector<double> times(std::vector<double> matrix, double factor) {
    for (double& weight : matrix) weight *= factor;
    return matrix;
  }

  const Recipe recipe_;
  const std::vector<int> all_;
};

// Each of F fragments once every H steps. Copies are taken at the ends of steps, and those that are
// taken together pass one after the other: the exchange of each is over after so many steps,
// through which training goes on. Then x ← αx + (1−α)θ.
class Streaming final : public Outer {
 public:
  explicit Streaming(const Recipe& recipe) : Outer(recipe) {
    for (int f = 0; f < recipe.fragments; ++f) {
      phases_.push_back(int(std::int64_t(f) * recipe.steps / recipe.fragments));
      const bool together = f > 0 && phases_[std::size_t(f)] == phases_[std::size_t(f) - 1];
      ahead_ = together ? ahead_ + 1 : 0;
      const double flight = recipe.latency + (ahead_ + 1) * recipe.serialisation / recipe.fragments;
      const int steps =
          flight > 0 ? int(std::ceil(flight / recipe.step_time - kRounding)) : recipe.overlap;
      overlaps_.push_back(std::clamp(steps, 1, recipe.steps));
    }
  }

  [[nodiscard]] double time_after(std::int64_t steps) const override {
    return double(steps) * recipe_.step_time;
  }
  [[nodiscard]] std::vector<VectorMove> after(std::int64_t steps) const override {
    if (steps == 0) return Outer::after(0);
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
      mean += overlap * recipe_.step_time / double(overlaps_.size());
      most = std::max(most, overlap * recipe_.step_time);
    }
    return {mean, most, recipe_.steps * recipe_.step_time};
  }

 private:
  void merge(std::vector<VectorMove>& moves, int f) const {
    const Buffer s = Buffer::kSentEven;
    const std::vector<double> average = average_of_all(recipe_);
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

  std::vector<int> phases_, overlaps_;  // by fragment, in steps
  int ahead_ = 0;
};

// The mean of everyone's last progress comes a phase late; an island's own share of it is fresh.
class Eager final : public Outer {
 public:
  using Outer::Outer;

 private:
  // The exchange has a whole phase; what it needs beyond that is waited for.
  [[nodiscard]] double idle() const override {
    return std::max(0.0, recipe_.exchange - recipe_.steps * recipe_.step_time);
  }
  [[nodiscard]] std::vector<VectorMove> exchange(std::int64_t) const override {
    const std::vector<double> average = average_of_all(recipe_);
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
};

// NoLoCo: random pairs in place of everyone, and a pull towards the pair's mean:
// v ← μv + rate·W(x − θ) − γ(θ − Wθ),  θ ← θ + v.
class RandomPairs final : public Outer {
 public:
  explicit RandomPairs(const Recipe& recipe) : Outer(recipe) {
    starts_.push_back(0);
    for (const RecipeRound& round : recipe.rounds) starts_.push_back(starts_.back() + round.length);
  }
  // Pairs differ, and so does how long they wait.
  [[nodiscard]] double time_after(std::int64_t steps) const override {
    const auto rounds = std::int64_t(recipe_.rounds.size());
    const std::int64_t k = steps / recipe_.steps;
    const std::int64_t periods = k / rounds;
    return double(steps) * recipe_.step_time + double(periods) * starts_.back() +
           starts_[std::size_t(k % rounds)];
  }
  [[nodiscard]] ClockSummary account() const override {
    const double mean = starts_.back() / double(recipe_.rounds.size());
    return {mean, mean, recipe_.steps * recipe_.step_time + mean};
  }

 private:
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
  std::vector<double> starts_;  // idle time before each exchange of a period, summed
};

}  // namespace

std::unique_ptr<StepSchedule> make_outer_schedule(const Recipe& recipe) {
  if (recipe.kind == Recipe::Kind::kStreaming) return std::make_unique<Streaming>(recipe);
  if (recipe.kind == Recipe::Kind::kEager) return std::make_unique<Eager>(recipe);
  if (recipe.kind == Recipe::Kind::kPairs) return std::make_unique<RandomPairs>(recipe);
  return std::make_unique<Outer>(recipe);
}

}  // namespace cotillion
