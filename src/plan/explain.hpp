// Why a clique costs what it costs, in words.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace cotillion {

// What a lane gives each of the streams (or flows: `noun`) on it, in a phrase.
[[nodiscard]] std::string lane_phrase(const Map& map, LaneId lane, int streams,
                                      std::string_view noun);

// A phrase: "access rate of LON (20 Gbps)", "7 streams on TYO→HKG (14.29 Gbps each)".
[[nodiscard]] std::string binding_phrase(const NetworkModel& network, const PlannedClique& clique);

// Sentences: who sends first, who waits for whom and where, the last flight, what limits the
// rate; or, when infeasible, the islands that chase each other and the memory that would help.
[[nodiscard]] std::string explain_price(const NetworkModel& network, const PlannedClique& clique);

}  // namespace cotillion
