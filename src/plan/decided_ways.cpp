#include "plan/decided_ways.hpp"

#include "plan/detours.hpp"
#include "plan/reroute.hpp"

namespace cotillion {

std::optional<PricedRound> decided_ways(const NetworkModel& network, const Round& round,
                                        const PricedRound& shortest, const RoundAim& aim) {
  std::optional<Rerouted> best = reroute(network, round, shortest, aim);
  const auto offer = [&](std::optional<Rerouted> other) {
    if (other && (!best || other->value < best->value)) best = std::move(other);
  };
  const bool rerouted = best.has_value();
  offer(detour(network, round, rerouted ? best->round : shortest, aim));
  // Full lanes and short memory may ask for other ways than one after the other finds.
  if (rerouted) offer(detour(network, round, shortest, aim));
  if (!best) return std::nullopt;
  return std::move(best->round);
}

}  // namespace cotillion
