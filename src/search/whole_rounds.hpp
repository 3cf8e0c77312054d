// What a streamed search begins from: the best schedule for whole rounds. T(A − ½) + d and T(A + ½)
// differ by little more than a constant where one clique sets both T and d, so a schedule that is
// good for one is good for the other, and an annealer that sees only one of them can end above what
// the other would have led it to.
#pragma once

#include "search/search.hpp"

namespace cotillion {

// The search that `settings` would have made without streaming, with its seed and as many steps, so
// that it ends where a search for whole rounds ends. Without a bound; against the clock with few
// steps.
[[nodiscard]] SearchResult search_whole_rounds(const NetworkModel& network, SearchSettings settings,
                                               Workers& workers);

}  // namespace cotillion
