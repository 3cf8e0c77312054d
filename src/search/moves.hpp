// Moves of the annealer, which are small changes of one round: islands swap cliques or move,
// cliques merge or split. Partners are drawn among the near more often than among the far, and
// cliques that hold a round up are changed more often than others.
#pragma once

#include <vector>

#include "base/random.hpp"
#include "search/pair_prices.hpp"
#include "search/round_state.hpp"

namespace cotillion {

// Islands by how cheaply each island can meet them, cheapest first, for drawing partners.
class Neighbourhood {
 public:
  Neighbourhood(const PairPrices& pairs, int island_count);
  // Anyone but `island`; the cheaper, the likelier.
  [[nodiscard]] IslandId draw(IslandId island, Random& random) const;

 private:
  int n_;
  int kept_;
  std::vector<IslandId> nearest_;  // `kept_` of them by island
};

struct Move {
  std::vector<int> gone;                     // groups
  std::vector<std::vector<IslandId>> fresh;  // cliques of the same islands, ascending
};

// False when the draw leads nowhere (a clique of one cannot be split). `around` is a group that
// the move must involve, or −1.
[[nodiscard]] bool draw_move(const RoundState& round, const Neighbourhood& neighbourhood,
                             int around, const NetworkModel& network, Random& random, Move& move);

}  // namespace cotillion
