// One copy in flight, whatever rounds and steps there are, against a copy for every round.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>

#include "base/random.hpp"
#include "learn/learner.hpp"
#include "learn/plain_vectors.hpp"
#include "policy/rotation_clock.hpp"
#include "policy/step_schedule.hpp"
#include "tests/support/train/random_rounds.hpp"

namespace cotillion {
namespace {

// The rule for one vector with a copy of its own for every round, in double: what one copy must
// amount to. Of the model a share of what was learned in flight is kept, and the sender may have
// momentum; moments fade.
class CopyForEveryRound {
 public:
  CopyForEveryRound(const Recipe& recipe, double keeps, double fades, int every)
      : recipe_(rotation_of(recipe)),
        clock_(recipe, recipe_),
        keeps_(keeps),
        fades_(fades),
        every_(every),
        n_(std::size_t(island_count(recipe))),
        x_(n_) {
    for (auto& island : x_) island.assign(std::size_t(recipe_.fragments), 0.0);
  }
  double& x(int island, int f) { return x_[std::size_t(island)][std::size_t(f)]; }
  void after(std::int64_t steps) {
    const auto [first, last] = clock_.rounds_at(steps);
    for (std::int64_t k = first; k <= last; ++k)
      for (int f = 0; f < recipe_.fragments; ++f) {
        if (!ships(k, f)) continue;
        for (int i = 0; i < int(n_); ++i)
          if (clock_.meets(k, i) && clock_.copy_step(k, i, f) == steps) copy(k, i, f);
        for (int i = 0; i < int(n_); ++i)
          if (clock_.meets(k, i) && clock_.merge_step(k, i, f) == steps)
            x(i, f) = merged(k, i, f) + std::exchange(added_[{i, f}], 0.0);
      }
  }

 private:
  void copy(std::int64_t k, int i, int f) {
    double& sent = sent_[{k, i, f}];
    const std::int64_t before = clock_.before(k, i);
    const bool ahead = clock_.copies_ahead(k, i, f) && ships(before, f);
    sent = ahead ? merged(before, i, f) : x(i, f);
    if (recipe_.momentum == 0 || fades_ != 1) return;
    const double copied = copied_[{k, i, f}] = sent;
    if (!average_.contains({i, f})) return;
    double& velocity = velocity_[{i, f}];
    velocity = recipe_.momentum * velocity + copied - average_.at({i, f});
    sent = average_.at({i, f}) + velocity;
    // What momentum has added is seen with the next merge, and here that one is at hand.
    if (!ahead) return;
    added_[{i, f}] = sent - copied;
    copied_[{k, i, f}] = sent;
  }
  [[nodiscard]] bool ships(std::int64_t k, int f) const { return (k + f) % every_ == 0; }
  // average + p (x − S), or x + β^d (average − S).
  double merged(std::int64_t k, int i, int f) {
    double average = 0;
    for (std::size_t j = 0; j < n_; ++j)
      if (const double weight = clock_.round(k).mixing[std::size_t(i) * n_ + j]; weight != 0)
        average += weight * sent_.at({k, int(j), f});
    average_[{i, f}] = average;
    const double sent = sent_.at({k, i, f});
    if (const auto copied = copied_.find({k, i, f}); copied != copied_.end())
      return average + keeps_ * (x(i, f) - copied->second);
    if (fades_ == 1) return average + keeps_ * (x(i, f) - sent);
    const auto flight = double(clock_.merge_step(k, i, f) - clock_.copy_step(k, i, f));
    return x(i, f) + std::pow(fades_, flight) * (average - sent);
  }
  const RotationRecipe recipe_;
  const RotationClock clock_;
  const double keeps_, fades_;
  const int every_;
  const std::size_t n_;
  std::vector<std::vector<double>> x_;
  std::map<std::tuple<std::int64_t, int, int>, double> sent_;
  std::map<std::tuple<std::int64_t, int, int>, double> copied_;  // x, where momentum sends more
  std::map<std::pair<int, int>, double> average_, velocity_, added_;  // by island and fragment
};

// Four islands in random groups, rounds and steps of random length, leaving and arriving at random.
Recipe random_rotation(Random& random) {
  constexpr std::size_t islands = 4;
  Recipe recipe;
  RotationRecipe& rotation = rotation_of(recipe);
  for (std::size_t i = 0; i < islands; ++i) recipe.islands.push_back(std::string(1, char('A' + i)));
  recipe.shares.assign(islands, 1.0 / islands);
  if (random.between(0, 1) == 0) rotation.progress = random.unit();
  rotation.fragments = int(random.between(1, 3));
  testing::add_random_rounds(recipe, random, 2);
  return recipe;
}

// A vector that travels, and what must become of it.
struct Expected {
  Buffer of = Buffer::kModel;
  std::unique_ptr<CopyForEveryRound> rule;  // stays where it is: its clock looks at its recipe
};

TEST(OneCopy, InFlightDoesWhatACopyForEveryRoundWould) {
  Random random(11);
  for (int world = 0; world < 300; ++world) {
    Recipe recipe = random_rotation(random);
    RotationRecipe& rotation = rotation_of(recipe);
    rotation.moments = 2;
    rotation.moments_every = int(random.between(1, 2));
    rotation.momentum_at_sender = random.between(0, 2) == 0;
    if (rotation.momentum_at_sender) rotation.momentum = 0.7 * random.unit();
    ASSERT_TRUE(RotationClock(recipe).one_copy()) << world;
    const auto schedule = make_step_schedule(recipe);
    std::vector<Expected> expected;
    const auto expect = [&](Buffer of, double keeps, double fades, int every) {
      expected.push_back({of, std::make_unique<CopyForEveryRound>(recipe, keeps, fades, every)});
    };
    expect(Buffer::kModel, rotation.progress, 1, 1);
    expect(Buffer::kMomentOne, 1, LearnerSettings{}.beta1, rotation.moments_every);
    expect(Buffer::kMomentTwo, 1, LearnerSettings{}.beta2, rotation.moments_every);
    PlainVectors rows(4, rotation.fragments);
    const auto apply = [&](const std::vector<VectorMove>& moves) {
      for (const VectorMove& move : moves) {
        for (const Buffer second : {Buffer::kSentOdd, Buffer::kSentOneOdd, Buffer::kSentTwoOdd})
          EXPECT_NE(move.into, second);
        rows.apply(move);
      }
    };
    apply(schedule->after(0));
    for (Expected& one : expected) one.rule->after(0);
    for (std::int64_t step = 1; step <= 40; ++step) {
      const AroundStep around = schedule->around(step);
      apply(around.before);
      for (Expected& one : expected)
        for (int i = 0; i < 4; ++i)
          for (int f = 0; f < rotation.fragments; ++f) {
            const auto increment = float(random.between(-8, 8));
            rows.at(one.of, i, f) += increment;
            one.rule->x(i, f) += double(increment);
          }
      apply(around.after);
      apply(schedule->after(step));
      for (Expected& one : expected) {
        one.rule->after(step);
        for (int i = 0; i < 4; ++i)
          for (int f = 0; f < rotation.fragments; ++f)
            ASSERT_NEAR(rows.at(one.of, i, f), one.rule->x(i, f), 1e-3)
                << "world " << world << ", step " << step << ", island " << i << ", fragment " << f
                << ", vector " << int(one.of);
      }
    }
  }
}

}  // namespace
}  // namespace cotillion
