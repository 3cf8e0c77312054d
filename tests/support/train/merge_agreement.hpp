// The merge rule's two executors side by side: islands that keep floats and merge them as receivers
// and training code do (protocol/merge), and a rotation's moves on vectors that live anywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "learn/plain_vectors.hpp"
#include "policy/merge_settings.hpp"
#include "policy/rotation_clock.hpp"
#include "policy/step_schedule.hpp"
#include "protocol/merge.hpp"
#include "tests/support/train/random_rounds.hpp"

namespace cotillion::testing {

class FloatIslands {
 public:
  // The recipe must outlive them.
  FloatIslands(const Recipe& recipe, std::int64_t elements)
      : recipe_(rotation_of(recipe)),
        clock_(recipe),
        settings_(merge_settings_of(recipe_)),
        elements_(elements),
        x_(recipe.islands.size(), std::vector<float>(std::size_t(elements))) {
    JobSpec job;
    job.elements = std::uint64_t(elements);
    for (std::size_t i = 0; i < x_.size(); ++i) rules_.emplace_back(job, settings_);
  }
  [[nodiscard]] std::vector<float>& x(int island) { return x_[std::size_t(island)]; }

  // What is due after so many steps.
  void after(std::int64_t steps) {
    const auto [first, last] = clock_.rounds_at(steps);
    for (std::int64_t k = first; k <= last; ++k)
      for (int f = 0; f < recipe_.fragments; ++f) {
        for (int i = 0; i < int(x_.size()); ++i)
          if (clock_.copy_step(k, i, f) == steps && clock_.meets(k, i)) copy(k, i, f);
        for (int i = 0; i < int(x_.size()); ++i)
          if (clock_.merge_step(k, i, f) == steps && clock_.meets(k, i)) merge(k, i, f);
      }
  }

 private:
  // What is averaged and compared: c = average − p · sent.
  struct Merged {
    std::vector<double> average, sent;
  };
  [[nodiscard]] Span span(int f) const {
    return span_of(f, recipe_.fragments, elements_, recipe_.grain);
  }
  [[nodiscard]] std::span<float> part(int island, int f) {
    return std::span(x(island)).subspan(std::size_t(span(f).first), std::size_t(span(f).count));
  }
  void copy(std::int64_t k, int i, int f) {
    std::vector<float>& z = sent_[{k, i, f}];
    z.assign(part(i, f).begin(), part(i, f).end());
    const bool ahead = clock_.copies_ahead(k, i, f);
    rules_[std::size_t(i)].to_sent(std::uint64_t(span(f).first), z, ahead);
    if (!ahead) return;
    const Merged merged = merged_of(clock_.before(k, i), i, f);
    for (std::size_t e = 0; e < z.size(); ++e)
      z[e] = float(z[e] + (merged.average[e] - settings_.progress * merged.sent[e]));
  }
  void merge(std::int64_t k, int i, int f) {
    const Merged merged = merged_of(k, i, f);
    rules_[std::size_t(i)].apply(std::uint64_t(span(f).first), part(i, f), merged.average,
                                 merged.sent,
                                 {.everyone = clock_.round(k).everyone,
                                  .waited = clock_.copies_ahead(clock_.next(k, i), i, f)});
  }
  // What the wire rounds away of one's own is in the average, but for momentum at the receiver.
  [[nodiscard]] Merged merged_of(std::int64_t k, int i, int f) {
    Merged merged;
    const std::size_t n = x_.size();
    const bool as_sent = has_momentum_at(settings_, MomentumAt::kReceiver);
    for (std::size_t e = 0; e < std::size_t(span(f).count); ++e) {
      const float own = sent_.at({k, i, f})[e];
      double average = as_sent ? 0 : double(own) - double(on_wire(own, recipe_.wire));
      for (std::size_t j = 0; j < n; ++j)
        if (const double weight = clock_.round(k).mixing[std::size_t(i) * n + j]; weight != 0)
          average += weight * on_wire(sent_.at({k, int(j), f})[e], recipe_.wire);
      merged.average.push_back(average);
      merged.sent.push_back(as_sent ? on_wire(own, recipe_.wire) : own);
    }
    return merged;
  }

  const RotationRecipe& recipe_;
  const RotationClock clock_;
  const MergeSettings settings_;
  const std::int64_t elements_;
  std::vector<std::vector<float>> x_;
  std::vector<Merge> rules_;
  std::map<std::tuple<std::int64_t, int, int>, std::vector<float>> sent_;
};

// Four islands in random groups, by any of the rules, on random rounds, which may overlap.
inline Recipe random_rule(Random& random) {
  constexpr std::size_t islands = 4;
  Recipe recipe;
  RotationRecipe& rotation = rotation_of(recipe);
  for (std::size_t i = 0; i < islands; ++i) recipe.islands.push_back(std::string(1, char('A' + i)));
  recipe.shares.assign(islands, 1.0 / islands);
  rotation.wire = random.between(0, 1) == 0 ? WireFormat::kF32 : WireFormat::kI32;
  const std::int64_t rule = random.between(0, 4);
  if (rule == 1) rotation.own_weight = 0.1 + 0.8 * random.unit();
  if (rule == 2 || rule == 3) rotation.progress = random.unit();
  if (rule >= 3) rotation.momentum = 0.6 * random.unit();
  rotation.momentum_at_sender = rule == 3;
  rotation.fragments = int(random.between(1, 3));
  add_random_rounds(recipe, random, rule == 4 ? 1 : 2);
  return recipe;
}

inline std::string described(const Recipe& recipe) {
  const RotationRecipe& rotation = rotation_of(recipe);
  return "own weight " + std::to_string(rotation.own_weight) + ", progress " +
         std::to_string(rotation.progress) + ", momentum " + std::to_string(rotation.momentum) +
         (rotation.momentum_at_sender ? " at the sender" : "") + ", wire " +
         std::to_string(int(rotation.wire));
}

// How far models are apart at most while both learn the same at random. `row` and `set_row` are of
// islands' models where the vectors live.
inline double most_apart(const Recipe& recipe, std::int64_t elements, Random& random,
                         Vectors& vectors, const std::function<std::vector<float>(int)>& row,
                         const std::function<void(int, const std::vector<float>&)>& set_row) {
  FloatIslands islands(recipe, elements);
  const auto schedule = make_step_schedule(recipe);
  const auto apply = [&](const std::vector<VectorMove>& moves) {
    for (const VectorMove& move : moves) vectors.apply(move);
  };
  const auto learn = [&](int island) {
    std::vector<float> theirs = row(island);
    for (std::size_t e = 0; e < theirs.size(); ++e) {
      const auto learned = float(random.unit() - 0.4);
      theirs[e] += learned;
      islands.x(island)[e] += learned;
    }
    set_row(island, theirs);
  };
  for (int i = 0; i < island_count(recipe); ++i) islands.x(i) = row(i);
  double most = 0;
  for (std::int64_t step = 0; step <= 24; ++step) {
    const AroundStep around = step > 0 ? schedule->around(step) : AroundStep{};
    if (step > 0) {
      // What is held within a step is kept nowhere: the update is a move between the two.
      apply(around.before);
      for (int i = 0; i < island_count(recipe); ++i) learn(i);
      apply(around.after);
    }
    apply(schedule->after(step));
    islands.after(step);
    for (int i = 0; i < island_count(recipe); ++i) {
      const std::vector<float> theirs = row(i);
      for (std::size_t e = 0; e < theirs.size(); ++e)
        most = std::max(most, std::abs(double(theirs[e]) - double(islands.x(i)[e])));
    }
  }
  return most;
}

}  // namespace cotillion::testing
