#include "plan/round_price.hpp"

#include <algorithm>

#include "base/infinity.hpp"

namespace cotillion {

double PricedRound::price_ps() const {
  if (!feasible) return kInfinity;
  double most = 0;
  for (const CliquePrice& price : prices) most = std::max(most, price.price.ps);
  return most;
}

Demand demand_of(const NetworkModel& network, const Clique& clique, const RateBound& bound) {
  Demand demand;
  demand.payload = double(network.payload().count);
  demand.pace_least = ps_per_byte(bound.rate) * network.wire_factor();
  for (const IslandId island : clique.islands) demand.memory.push_back(network.memory(island));
  return demand;
}

PricedRound price_round(const NetworkModel& network, const Round& round, RoundWays ways,
                        PriceScratch& scratch) {
  PricedRound priced;
  priced.rates = rates_of(network, round, ways);
  CliqueLatencies latencies;
  for (std::size_t c = 0; c < round.cliques.size(); ++c) {
    const Clique& clique = round.cliques[c];
    if (clique.size() == 1) {
      priced.prices.emplace_back().feasible = true;
      continue;
    }
    latencies_of(ways.cliques[c], latencies);
    const Demand demand = demand_of(network, clique, priced.rates.bounds[c]);
    priced.prices.push_back(price_clique(latencies, demand, scratch));
    priced.feasible = priced.feasible && priced.prices.back().feasible;
  }
  priced.ways = std::move(ways);
  return priced;
}

double value_of(const NetworkModel& network, const PricedRound& round, const RoundAim& aim) {
  if (!round.feasible) return kInfinity;
  const double payload = double(network.payload().count);
  double most = 0;
  for (std::size_t c = 0; c < round.prices.size(); ++c) {
    if (round.ways.cliques[c].empty()) continue;
    const double passes = payload * round.prices[c].pace;
    most = std::max(most, aim.value(passes, round.prices[c].price.ps - passes));
  }
  return most;
}

}  // namespace cotillion
