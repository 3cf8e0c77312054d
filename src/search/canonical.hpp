// The canonical form of a schedule. A period may start at any of its rounds, and played backwards
// it mixes alike (the transpose of Φ has the same e) and costs the same. One of these schedules
// stands for all, so that ties are broken in the same way everywhere.
#pragma once

#include "plan/schedule.hpp"

namespace cotillion {

// The first, in the order of `precedes`, of all rotations of the period and of its reverse.
[[nodiscard]] std::vector<Round> canonical(const std::vector<Round>& rounds);

// Shorter periods first, then round by round, clique by clique.
[[nodiscard]] bool precedes(const std::vector<Round>& a, const std::vector<Round>& b);

}  // namespace cotillion
