// Every round that a small map allows. Whoever proves something by looking at all of them, tests
// included, takes them from here.
#pragma once

#include <vector>

#include "plan/schedule.hpp"

namespace cotillion {

// Maps up to here are small: nine islands have 21,147 rounds, ten 115,975.
inline constexpr int kSmallIslandsMax = 9;

// Every partition of the islands, completed. Requires at most kSmallIslandsMax of them.
[[nodiscard]] std::vector<Round> every_round(int island_count);

}  // namespace cotillion
