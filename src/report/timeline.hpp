// One round as it is planned, island by island: when it waits, when it sends, what flies towards
// it, what arrives at its edge and how much of that the edge must hold.
#pragma once

#include <cstddef>
#include <string>

#include "plan/plan.hpp"

namespace cotillion {

// Of more than sixteen islands only the clique that takes longest is drawn, and of a clique of
// more than sixteen the eight members that decide its price or come first.
// Requires round_index < plan.rounds.size().
[[nodiscard]] std::string timeline_svg(const NetworkModel& network, const Plan& plan,
                                       std::size_t round_index);

}  // namespace cotillion
