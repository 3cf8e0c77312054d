// Greedy packing of rounds that fit into a given time by construction. Cliques are grown one island
// at a time, as long as no lane gets more streams than that time allows. Islands that have met in
// earlier rounds are kept apart where possible, so that updates spread.
#pragma once

#include "base/random.hpp"
#include "search/clique_cache.hpp"
#include "search/pair_prices.hpp"

namespace cotillion {

class Packer {
 public:
  Packer(const PairPrices& pairs, CliqueCache& cache);

  // Cliques of up to `size` members within `price_most` picoseconds. Those who have met fewest and
  // those with few possible partners choose first.
  [[nodiscard]] Round pack(int size, double price_most, Random& random);

 private:
  [[nodiscard]] bool are_strangers(const std::vector<IslandId>& clique, IslandId partner) const;
  [[nodiscard]] bool fits(const std::vector<IslandId>& clique, const KnownClique* before,
                          double price_most);

  const PairPrices& pairs_;
  CliqueCache& cache_;
  int n_;
  std::vector<int> streams_;           // by lane, of the round being packed
  std::vector<std::vector<int>> met_;  // by earlier round: the clique each island was in
  std::vector<int> meetings_;          // by island: rounds in which it was not alone
};

}  // namespace cotillion
