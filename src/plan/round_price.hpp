// One round on given ways, priced: what every lane can offer, what each clique then costs, and why.
// The planner writes plans from it; whoever decides ways compares rounds by it.
#pragma once

#include <vector>

#include "plan/clique_price.hpp"
#include "plan/ways.hpp"

namespace cotillion {

struct PricedRound {
  RoundWays ways;
  RoundRates rates;
  std::vector<CliquePrice> prices;  // by clique
  bool feasible = true;

  // The dearest clique's price; infinite when one is infeasible.
  [[nodiscard]] double price_ps() const;
};

// D as demanded of the network, and each member's memory.
[[nodiscard]] Demand demand_of(const NetworkModel& network, const Clique& clique,
                               const RateBound& bound);

[[nodiscard]] PricedRound price_round(const NetworkModel& network, const Round& round,
                                      RoundWays ways, PriceScratch& scratch);

// What a round is worth under an aim, in picoseconds: less is better, infinite is infeasible.
// A barrier round costs its price. Where rounds overlap, streams follow each other as fast as they
// can pass: J = S (A − ½) + flight + S/F, of the slowest clique.
struct RoundAim {
  bool overlap = false;
  double area = 1;    // A of the whole schedule
  int fragments = 1;  // F

  [[nodiscard]] double value(double serialisation, double before) const {
    return overlap ? serialisation * (area - 0.5 + 1.0 / fragments) + before
                   : serialisation + before;
  }
};
[[nodiscard]] double value_of(const NetworkModel& network, const PricedRound& round,
                              const RoundAim& aim);

}  // namespace cotillion
