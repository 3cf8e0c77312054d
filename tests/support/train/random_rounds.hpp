// Rounds of random groups, in which islands copy and merge at random times, and steps that can tell
// them apart.
#pragma once

#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "base/random.hpp"
#include "policy/rotation_times.hpp"

namespace cotillion::testing {

// Everybody in a group by a number from 0 to `groups`; each group averages.
inline RecipeRound random_groups(Random& random, std::size_t islands, int groups) {
  RecipeRound round{0, std::vector<double>(islands * islands, 0.0), {}, {}, false};
  std::vector<int> group(islands);
  for (int& g : group) g = int(random.between(0, groups));
  const auto size = [&](std::size_t i) { return std::count(group.begin(), group.end(), group[i]); };
  round.everyone = size(0) == std::ptrdiff_t(islands);
  for (std::size_t i = 0; i < islands; ++i)
    for (std::size_t j = 0; j < islands; ++j)
      if (group[i] == group[j]) round.mixing[i * islands + j] = 1.0 / double(size(i));
  return round;
}

// A round that ends before the next begins.
inline void add_times_apart(RecipeRound& round, Random& random, std::size_t islands,
                            int fragments) {
  round.length = 0.1 + 0.3 * random.unit();
  for (std::size_t i = 0; i < islands; ++i)
    for (int f = 0; f < fragments; ++f) {
      round.leaves.push_back(round.length * (f + random.unit()) / (2 * fragments));
      round.arrives.push_back(round.length * (0.5 + 0.5 * (f + random.unit()) / fragments));
    }
}

// One that does not: streams of one pace, which set out and come in when they will.
inline void add_overlapping_times(RecipeRound& round, Random& random, std::size_t islands,
                                  int fragments) {
  round.length = 0.1 * random.unit();
  const double part = (0.05 + 0.3 * random.unit()) / fragments;
  for (std::size_t i = 0; i < islands; ++i) {
    const double copy = 0.1 * random.unit(), sum = 0.1 + 0.3 * random.unit();
    for (int f = 0; f < fragments; ++f) {
      round.leaves.push_back(copy + f * part);
      round.arrives.push_back(sum + (f + 1) * part);
    }
  }
}

// To a recipe of so many islands and fragments; half of them overlap. Steps may be as long as
// rounds that end allow; those that overlap are made as long as steps ask for.
inline void add_random_rounds(Recipe& recipe, Random& random, int groups) {
  RotationRecipe& rotation = rotation_of(recipe);
  const std::size_t islands = recipe.islands.size();
  const bool overlap = random.between(0, 1) == 0;
  recipe.step_time = 0.03 + 0.3 * random.unit();
  for (std::int64_t r = random.between(1, 3); r > 0; --r) {
    RecipeRound round = random_groups(random, islands, groups);
    if (overlap)
      add_overlapping_times(round, random, islands, rotation.fragments);
    else
      add_times_apart(round, random, islands, rotation.fragments);
    if (!overlap) recipe.step_time = std::min(recipe.step_time, round.length);
    rotation.rounds.push_back(std::move(round));
  }
  const double lacking = RotationTimes(recipe, rotation).lacking();
  COTILLION_CHECK(overlap || lacking == 0);
  for (RecipeRound& round : rotation.rounds) round.length += lacking;
}

}  // namespace cotillion::testing
