#include "policy/rotation_clock.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr std::int64_t kRoundsLooked = 64;  // they fall differently on steps each time

}  // namespace

RotationClock::RotationClock(const RecipeCommon& common, const RotationRecipe& rotation)
    : recipe_(rotation),
      step_time_(common.step_time),
      islands_(island_count(common)),
      times_(common, rotation),
      prompt_(rotation.momentum == 0 || rotation.momentum_at_sender) {
  COTILLION_CHECK(times_.lacking() == 0);
}

RotationClock::Rounds RotationClock::rounds_at(std::int64_t steps) const {
  const double merged = double(steps - 1) * step_time_ - times_.beyond();
  return {std::max<std::int64_t>(0, times_.round_at(merged) - 1),
          times_.round_at(double(steps + 1) * step_time_)};
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
  const double due = times_.leaves(k, island, fragment);
  const auto own = std::int64_t(std::floor(due / step_time_ + kClockRounding));
  if (prompt_ || !meets(k, island)) return own;
  const std::int64_t before = times_.before(k, island);
  return before < 0 ? own : std::max(own, merged_by(before, island, fragment));
}

bool RotationClock::copies_ahead(std::int64_t k, int island, int fragment) const {
  if (!prompt_ || !meets(k, island)) return false;
  const std::int64_t before = times_.before(k, island);
  return before >= 0 && merged_by(before, island, fragment) > copy_step(k, island, fragment);
}

std::int64_t RotationClock::merged_by(std::int64_t k, int island, int fragment) const {
  const double due = times_.arrives(k, island, fragment);
  return std::int64_t(std::ceil(due / step_time_ - kClockRounding));
}

namespace {

// Whether of every fragment there are steps between a merge and the next copy.
bool learns_between_flights(const Recipe& recipe) {
  const RotationClock clock{recipe};
  for (int i = 0; i < island_count(recipe); ++i)
    for (int f = 0; f < rotation_of(recipe).fragments; ++f) {
      bool learns = false, meets = false;
      for (std::int64_t k = 0; k < kRoundsLooked && !learns; ++k) {
        if (!clock.meets(k, i)) continue;
        meets = true;
        learns = clock.copy_step(clock.next(k, i), i, f) > clock.merge_step(k, i, f);
      }
      if (meets && !learns) return false;
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
          if (clock.meets(k, island) && clock.kept_from(k, island, f) <= step &&
              step < clock.merge_step(k, island, f))
            now += 1.0 / fragments;
      most = std::max(most, now);
    }
  return most;
}

}  // namespace cotillion
