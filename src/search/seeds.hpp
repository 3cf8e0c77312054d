// Seeds: the schedules from which searches begin. They belong to families that are known to mix
// well or to be cheap, laid out along a line of neighbours. docs/understand/model.md lists them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "search/clique_cache.hpp"
#include "search/constraints.hpp"
#include "search/pair_prices.hpp"

namespace cotillion {

struct Seed {
  std::string family;  // "grid", "near-complete", …
  Schedule schedule;   // its name says which of the family
};

// All of them obey the rules and are feasible: cliques that are too large or cannot meet have been
// split. Pinned rounds are put in front. `stop` is asked after the named ones.
[[nodiscard]] std::vector<Seed> make_seeds(const PairPrices& pairs, const Rules& rules,
                                           int period_max, CliqueCache& cache, Random& random,
                                           const std::function<bool()>& stop = {});

}  // namespace cotillion
