#include "lab/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "protocol/packet.hpp"

namespace cotillion {
namespace {

// Whole beats, so that elements of every kind stay whole.
Bytes payload_over(Bytes payload, std::int64_t scale) {
  constexpr auto kBeat = std::int64_t(kBeatBytes);
  return {payload.count / scale / kBeat * kBeat};
}

void divide(EdgeSpec& spec, std::int64_t scale) {
  spec.memory = spec.memory / scale;
}

}  // namespace

Result<PlanFile> scaled(PlanFile plan, std::int64_t scale) {
  COTILLION_CHECK(scale >= 1);
  if (scale == 1) return plan;
  const auto divisor = double(scale);
  Map& map = plan.map;
  const Bytes before = map.payload;
  map.payload = payload_over(map.payload, scale);
  if (map.payload.count <= 0)
    return failure(fmt::format("at a scale of 1:{} nothing is left of the payload", scale));
  divide(map.edge, scale);
  for (Aggregator& aggregator : map.aggregators) divide(aggregator.spec, scale);
  for (Island& island : map.islands) {
    island.up = island.up / divisor;
    island.down = island.down / divisor;
  }
  for (Link& link : map.links)
    for (BitsPerSecond& rate : link.rate) rate = rate / divisor;
  for (PlannedRound& round : plan.plan.rounds) {
    for (PlannedClique& clique : round.cliques) {
      clique.rate = clique.rate / divisor;
      clique.binding.bound = clique.binding.bound / divisor;
      for (Stream& stream : clique.streams) {
        stream.rate = stream.rate / divisor;
        // Twice the map's where state is shipped with the weights.
        stream.payload = stream.payload.count / before.count * map.payload;
      }
    }
    for (LaneUse& use : round.lanes) {
      use.rate = use.rate / divisor;
      use.bytes = use.bytes / scale;
    }
    for (EdgeUse& use : round.edges) use.memory_peak = use.memory_peak / scale;
  }
  return plan;
}

Result<std::string> plan_text(const PlanFile& plan) {
  const Routes routes(plan.map);
  const NetworkModel network(plan.map, routes, plan.plan.network);
  for (IslandId island = 0; island < plan.map.island_count(); ++island)
    if (ingress_of(network, island).lanes != plan.ingress[island].lanes)
      return failure(
          fmt::format("the plan leads streams into {} by a way that this version would "
                      "not take; plan again",
                      plan.map.islands[island].name));
  return to_json(network, plan.plan, plan.made_by).dump(1) + "\n";
}

}  // namespace cotillion
