// The best e(1) of a small map. There every round can be priced, congestion between its cliques
// included. What the best of those within a price leaves of an update is then known exactly.
#pragma once

#include <vector>

#include "search/constraints.hpp"

namespace cotillion {

class SmallRounds {
 public:
  // Knows nothing of larger maps.
  SmallRounds(const NetworkModel& network, const Rules& rules, int fragments);
  // At least e(1) of a round that costs no more; zero where nothing is known.
  [[nodiscard]] double survival(double price, bool squared) const;

 private:
  struct Priced {
    double price = 0;
    double survival[2] = {};  // the least up to this price; of the squared curve second
  };
  std::vector<Priced> rounds_;  // cheapest first
};

}  // namespace cotillion
