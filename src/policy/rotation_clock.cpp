#include "policy/rotation_clock.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/infinity.hpp"

namespace cotillion {
namespace {

constexpr double kClockRounding =
    1e-9;  // of a step: a merge planned for a step's very end is in time

constexpr std::int64_t kRoundsLooked = 64;  // they fall differently on steps each time

}  // namespace

bool is_a_step(const RecipeRound& round, double step_time) {
  return round.length >= step_time * (1 - kClockRounding);
}

RotationClock::RotationClock(const RecipeCommon& common, const RotationRecipe& rotation)
    : recipe_(rotation), step_time_(common.step_time), islands_(island_count(common)) {
  COTILLION_CHECK(!rotation.rounds.empty());
  prompt_ = rotation.momentum == 0 || rotation.momentum_at_sender;
  for (const RecipeRound& round : rotation.rounds) {
    COTILLION_CHECK(is_a_step(round, step_time_));
    starts_.push_back(period_);
    period_ += round.length;
  }
  find_groups();
  one_copy_ = takes_one_copy();
}

void RotationClock::find_groups() {
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

// Told from the planned times, so that it holds however rounds fall on steps: (1) all of a group
// have copied when the first of them merges; (2) one's own merge comes no later than one's next
// copy; (3) nobody's correction waits in the step in which another's, of the round before, does.
// Own weights and the receiver's momentum need S and the average apart from each other.
bool RotationClock::takes_one_copy() const {
  if (recipe_.own_weight < 1 || (recipe_.momentum > 0 && !recipe_.momentum_at_sender)) return false;
  const double rounding = kClockRounding * step_time_;
  const auto rounds = recipe_.rounds.size();
  for (std::size_t k = 0; k < rounds; ++k) {
    const RecipeRound& round = recipe_.rounds[k];
    const RecipeRound& before = recipe_.rounds[(k + rounds - 1) % rounds];
    const RecipeRound& next = recipe_.rounds[(k + 1) % rounds];
    for (const std::vector<int>& group : groups_[k])
      for (int f = 0; f < recipe_.fragments; ++f) {
        double first_next = kInfinity, last_before = -kInfinity;
        double first_arrives = kInfinity, last_leaves = 0;
        for (const int i : group) {
          const double again = round.length + next.leaves[at(i, f)];
          if (round.arrives[at(i, f)] > again + rounding) return false;
          first_next = std::min(first_next, again);
          first_arrives = std::min(first_arrives, round.arrives[at(i, f)]);
          last_leaves = std::max(last_leaves, round.leaves[at(i, f)]);
          last_before = std::max(last_before, before.arrives[at(i, f)] - before.length);
        }
        if (last_leaves > first_arrives + rounding) return false;
        if (prompt_ && last_before + step_time_ > first_next + rounding) return false;
      }
  }
  return true;
}

const RecipeRound& RotationClock::round(std::int64_t k) const {
  return recipe_.rounds[std::size_t(k % std::int64_t(recipe_.rounds.size()))];
}

double RotationClock::start(std::int64_t k) const {
  const auto rounds = std::int64_t(recipe_.rounds.size());
  const std::int64_t periods = k / rounds;
  return double(periods) * period_ + starts_[std::size_t(k % rounds)];
}

std::int64_t RotationClock::round_at(double time) const {
  const auto cycles = std::int64_t(std::floor(time / period_));
  const double within = time - double(cycles) * period_;
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), within);
  return cycles * std::int64_t(starts_.size()) + (next - starts_.begin()) - 1;
}

RotationClock::Rounds RotationClock::rounds_at(std::int64_t steps) const {
  const std::int64_t first = round_at(double(steps - 1) * step_time_) - 1;
  return {std::max<std::int64_t>(0, first), round_at(double(steps + 1) * step_time_)};
}

std::vector<RotationClock::DueExchange> RotationClock::due_exchanges(int island,
                                                                     std::int64_t steps) const {
  std::vector<DueExchange> due_exchanges;
  for (const Appointment& due : copies(island, steps))
    due_exchanges.push_back({due.fragment, due.round, false});
  for (const Appointment& due : merges(island, steps))
    due_exchanges.push_back({due.fragment, due.round, true});
  std::sort(due_exchanges.begin(), due_exchanges.end());
  return due_exchanges;
}

bool RotationClock::meets(std::int64_t k, int island) const {
  const auto n = std::size_t(islands_);
  const auto own = round(k).mixing.begin() + std::ptrdiff_t(std::size_t(island) * n);
  for (std::size_t j = 0; j < n; ++j)
    if (j != std::size_t(island) && own[std::ptrdiff_t(j)] != 0) return true;
  return false;
}

template <class StepOf>
std::vector<RotationClock::Appointment> RotationClock::due(int island, std::int64_t steps,
                                                           StepOf step_of) const {
  std::vector<Appointment> due;
  const auto [first, last] = rounds_at(steps);
  for (std::int64_t k = first; k <= last; ++k)
    for (int f = 0; f < recipe_.fragments; ++f)
      if (step_of(k, f) == steps && meets(k, island)) due.push_back({k, f});
  return due;
}

std::vector<RotationClock::Appointment> RotationClock::copies(int island,
                                                              std::int64_t steps) const {
  return due(island, steps, [&](std::int64_t k, int f) { return copy_step(k, island, f); });
}

std::vector<RotationClock::Appointment> RotationClock::merges(int island,
                                                              std::int64_t steps) const {
  return due(island, steps, [&](std::int64_t k, int f) { return merge_step(k, island, f); });
}

std::int64_t RotationClock::merge_step(std::int64_t k, int island, int fragment) const {
  return std::max(merged_by(k, island, fragment), copy_step(k, island, fragment));
}

std::int64_t RotationClock::copy_step(std::int64_t k, int island, int fragment) const {
  const double due = start(k) + round(k).leaves[at(island, fragment)];
  const auto own = std::int64_t(std::floor(due / step_time_ + kClockRounding));
  return k == 0 || prompt_ ? own : std::max(own, merged_by(k - 1, island, fragment));
}

bool RotationClock::copies_ahead(std::int64_t k, int island, int fragment) const {
  return prompt_ && k > 0 && merged_by(k - 1, island, fragment) > copy_step(k, island, fragment);
}

std::int64_t RotationClock::merged_by(std::int64_t k, int island, int fragment) const {
  const double due = start(k) + round(k).arrives[at(island, fragment)];
  return std::int64_t(std::ceil(due / step_time_ - kClockRounding));
}

namespace {

// Whether of every fragment there are steps between a merge and the next copy.
bool learns_between_flights(const Recipe& recipe) {
  const RotationClock clock{recipe};
  for (int i = 0; i < island_count(recipe); ++i)
    for (int f = 0; f < rotation_of(recipe).fragments; ++f) {
      bool learns = false;
      for (std::int64_t k = 0; k < kRoundsLooked && !learns; ++k)
        learns = clock.copy_step(k + 1, i, f) > clock.merge_step(k, i, f);
      if (!learns) return false;
    }
  return true;
}

}  // namespace

std::string why_not_by_the_clock(const Recipe& recipe) {
  const RotationRecipe& rotation = rotation_of(recipe);
  if (rotation.progress == 0 && !learns_between_flights(recipe))
    return "progress=0: every step is made in flight, and nothing would be learned; give more, or "
           "fragments=";
  if (rotation.momentum_at_sender && !RotationClock(recipe).one_copy())
    return "momentum at the sender: somebody sends when another of the clique has heard everybody "
           "already";
  return "";
}

double copies_in_flight(const Recipe& recipe, std::int64_t last_step) {
  const RotationClock clock{recipe};
  const int fragments = rotation_of(recipe).fragments;
  double most = 0;
  for (int island = 0; island < island_count(recipe); ++island)
    // Rounds fall on steps alike before long.
    for (std::int64_t step = 0; step <= std::min<std::int64_t>(last_step, 200); ++step) {
      double now = 0;
      const auto [first, last] = clock.rounds_at(step);
      for (std::int64_t k = first; k <= last; ++k)
        for (int f = 0; f < fragments; ++f)
          if (clock.kept_from(k, island, f) <= step && step < clock.merge_step(k, island, f))
            now += 1.0 / fragments;
      most = std::max(most, now);
    }
  return most;
}

}  // namespace cotillion
