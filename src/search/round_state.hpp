// One round while it is being searched: its cliques, their streams on lanes, and their cost. A
// proposal is a copy with some cliques replaced. Only the lanes of these are touched, and only
// cliques on such lanes are priced again.
#pragma once

#include <span>
#include <vector>

#include "search/clique_cache.hpp"
#include "search/grouping.hpp"

namespace cotillion {

struct RoundState {
  Grouping groups;
  std::vector<KnownClique*> cliques;  // by group
  std::vector<double> paces;          // by group: of the most crowded lane it uses
  std::vector<CliqueCost> costs;      // by group
  std::vector<int> streams;           // by lane
  double price = 0;                   // of the dearest
  double delay = 0;                   // of the slowest
};

[[nodiscard]] RoundState state_of(const Round& round, CliqueCache& cache);
[[nodiscard]] Round round_of(const RoundState& state);

// `into` becomes `from` with the groups numbered in `gone` replaced by `fresh` ones of the same
// islands. False as soon as the price is known to pass `price_most`; `into` is of no use then.
[[nodiscard]] bool replace(const RoundState& from, std::span<const int> gone,
                           std::span<const std::vector<IslandId>> fresh, double price_most,
                           CliqueCache& cache, RoundState& into);

}  // namespace cotillion
