// The search when plans may do what the core model does not. The core model's answer comes first,
// with its proof where there is one; then what would be best if rounds overlapped, and what would
// be best if no link were ever full. The finalists of all three are planned with the relaxations,
// and the best of them is taken down to where no neighbour is better.
#pragma once

#include "search/search.hpp"

namespace cotillion {

// Requires settings.plan.relax.any(). Never worse than the search without relaxations.
[[nodiscard]] SearchResult search_relaxed(const NetworkModel& network,
                                          const SearchSettings& settings, Workers& workers);

// The search as it is, on the core model's prices, or on those of overlapping rounds where
// settings.plan.relax names overlap.
[[nodiscard]] SearchResult search_once(const NetworkModel& network, const SearchSettings& settings,
                                       Workers& workers);

}  // namespace cotillion
