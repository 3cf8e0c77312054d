#include "policy/rotation_times.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"

namespace cotillion {

RotationTimes::RotationTimes(const RecipeCommon& common, const RotationRecipe& rotation)
    : recipe_(rotation), step_time_(common.step_time), islands_(island_count(common)) {
  COTILLION_CHECK(!rotation.rounds.empty());
  for (const RecipeRound& round : rotation.rounds) {
    starts_.push_back(period_);
    period_ += round.length;
  }
  find_groups();
  find_meetings();
  find_what_lacks();
}

double RotationTimes::start(std::int64_t k) const {
  const auto rounds = std::int64_t(recipe_.rounds.size());
  const std::int64_t periods = k / rounds;
  return double(periods) * period_ + starts_[std::size_t(k % rounds)];
}

std::int64_t RotationTimes::round_at(double time) const {
  const auto cycles = std::int64_t(std::floor(time / period_));
  const double within = time - double(cycles) * period_;
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), within);
  return cycles * std::int64_t(starts_.size()) + (next - starts_.begin()) - 1;
}

void RotationTimes::find_groups() {
  const auto n = std::size_t(islands_);
  for (const RecipeRound& round : recipe_.rounds) {
    std::vector<std::size_t> group(n);
    for (std::size_t i = 0; i < n; ++i) group[i] = i;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (round.mixing[i * n + j] != 0 && group[i] != group[j])
          std::replace(group.begin(), group.end(), std::max(group[i], group[j]),
                       std::min(group[i], group[j]));
    std::vector<std::vector<int>> groups(n);
    for (std::size_t i = 0; i < n; ++i) groups[group[i]].push_back(int(i));
    std::erase_if(groups, [](const std::vector<int>& none) { return none.empty(); });
    groups_.push_back(std::move(groups));
  }
}

void RotationTimes::find_meetings() {
  const auto rounds = std::int64_t(recipe_.rounds.size());
  std::vector<std::int64_t> last(std::size_t(islands_), -1);
  back_.assign(recipe_.rounds.size(), std::vector<std::int64_t>(std::size_t(islands_), 0));
  for (std::int64_t k = 0; k < 2 * rounds; ++k)
    for (const std::vector<int>& group : groups(k))
      for (const int i : group) {
        if (group.size() < 2) continue;
        std::int64_t& before = last[std::size_t(i)];
        back_[std::size_t(k % rounds)][std::size_t(i)] = before < 0 ? rounds : k - before;
        before = k;
      }
  for (std::int64_t k = 0; k < rounds; ++k)
    for (int i = 0; i < islands_; ++i)
      for (int f = 0; f < recipe_.fragments && meets(k, i); ++f)
        beyond_ = std::max(beyond_, round(k).arrives[at(i, f)] - round(k).length);
}

std::int64_t RotationTimes::next(std::int64_t k, int island) const {
  do ++k;
  while (!meets(k, island));
  return k;
}

void RotationTimes::expect(double margin, std::int64_t rounds) {
  if (margin < -kClockRounding * step_time_)
    lacking_ = std::max(lacking_, -margin / double(rounds));
}

// An island's own copies and merges, one after the other; and only one merge waits when it copies.
void RotationTimes::expect_order_of_own(std::int64_t k, const std::vector<int>& group) {
  for (const int i : group) {
    const std::int64_t then = next(k, i), later = next(then, i);
    for (int f = 0; f < recipe_.fragments; ++f) {
      expect(leaves(then, i, f) - arrives(k, i, f), then - k);
      expect(leaves(later, i, f) - arrives(k, i, f) - step_time_, later - k);
    }
  }
}

// An island copies no more often than it takes steps.
void RotationTimes::expect_steps_between_copies() {
  const auto rounds = std::int64_t(recipe_.rounds.size());
  for (int i = 0; i < islands_; ++i) {
    double copies = 0;
    for (std::int64_t k = 0; k < rounds; ++k) copies += meets(k, i);
    expect(period_ - std::max(1.0, copies) * step_time_, rounds);
  }
}

// The last correction of rounds before has been merged when the first of the next copies leaves.
void RotationTimes::expect_one_place(std::int64_t k, const std::vector<int>& group) {
  std::int64_t last = -1, first = next(k, group.front());
  for (const int i : group) {
    last = std::max(last, before(k, i));
    first = std::min(first, next(k, i));
  }
  for (int f = 0; f < recipe_.fragments; ++f) {
    double last_before = -kInfinity, first_next = kInfinity;
    for (const int i : group) {
      last_before = std::max(last_before, arrives(before(k, i), i, f));
      first_next = std::min(first_next, leaves(next(k, i), i, f));
    }
    expect(first_next - last_before - step_time_, first - last);
  }
}

// Everybody has merged when the first of them copies to the same place again.
void RotationTimes::expect_two_places(std::int64_t k, const std::vector<int>& group) {
  for (const int i : group) {
    std::int64_t then = k + 2;
    while (!meets(then, i)) then += 2;
    for (int f = 0; f < recipe_.fragments; ++f) {
      double last = -kInfinity;
      for (const int j : group) last = std::max(last, arrives(k, j, f));
      expect(leaves(then, i, f) - last - step_time_, then - k);
    }
  }
}

bool RotationTimes::leave_before_any_arrives() const {
  for (std::size_t k = 0; k < groups_.size(); ++k)
    for (const std::vector<int>& group : groups_[k])
      for (int f = 0; f < recipe_.fragments; ++f) {
        double first_arrives = kInfinity, last_leaves = 0;
        for (const int i : group) {
          first_arrives = std::min(first_arrives, recipe_.rounds[k].arrives[at(i, f)]);
          last_leaves = std::max(last_leaves, recipe_.rounds[k].leaves[at(i, f)]);
        }
        if (group.size() > 1 && last_leaves > first_arrives + kClockRounding * step_time_)
          return false;
      }
  return true;
}

// Told from the planned times, so that it holds however rounds fall on steps.
void RotationTimes::find_what_lacks() {
  const bool apart =
      recipe_.own_weight < 1 || (recipe_.momentum > 0 && !recipe_.momentum_at_sender);
  one_copy_ = !apart && leave_before_any_arrives();
  const auto rounds = std::int64_t(recipe_.rounds.size());
  expect_steps_between_copies();
  // From the second period on everybody has met somebody before; with the one after it rounds are
  // even and odd.
  for (std::int64_t k = rounds; k < 3 * rounds; ++k)
    for (const std::vector<int>& group : groups(k)) {
      if (group.size() < 2) continue;
      expect_order_of_own(k, group);
      if (one_copy_)
        expect_one_place(k, group);
      else
        expect_two_places(k, group);
    }
}

}  // namespace cotillion
