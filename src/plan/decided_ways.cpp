#include "plan/decided_ways.hpp"

#include "plan/detours.hpp"
#include "plan/reroute.hpp"

namespace cotillion {

std::optional<PricedRound> decided_ways(const NetworkModel& network, const Round& round,
                                        const PricedRound& shortest, const RoundAim& aim) {
  std::optional<Rerouted> best = reroute(network, round, shortest, aim);
  std::optional<Rerouted> longer = detour(network, round, best ? best->round : shortest, aim);
  if (longer) best = std::move(longer);
  // Full lanes and short memory may ask for other ways than one after the other finds.
  if (best) longer = detour(network, round, shortest, aim);
  if (longer && longer->value < best->value) best = std::move(longer);
  if (!best) return std::nullopt;
  return std::move(best->round);
}

}  // namespace cotillion
