#include "plan/sweep.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace cotillion {
namespace {

std::string winner_of(const std::vector<Policy>& policies) {
  for (const Policy& policy : policies)
    if (policy.feasible && policy.runnable && !policy.blocking) return policy.name;
  return "none";
}

}  // namespace

void turn(Knob knob, const KnobSetting& setting, Map& map, NetworkModelSettings& network,
          PlanSettings& plan) {
  const auto number = std::int64_t(setting.number);
  switch (knob) {
    case Knob::kMemory:
      map.edge.memory = {number};
      for (Aggregator& aggregator : map.aggregators) aggregator.spec.memory = {number};
      return;
    case Knob::kAccess:
      for (Island& island : map.islands) island.up = island.down = {setting.number};
      return;
    case Knob::kRate:
      for (Link& link : map.links) link.rate[0] = link.rate[1] = {setting.number};
      return;
    case Knob::kPayload:
      map.payload = {number};
      return;
    case Knob::kStepTime:
      plan.step_time = RealDuration::from_ps(setting.number * kPicosecondsPerMillisecond);
      return;
    case Knob::kTechnology:
      network.technology = setting.technology;
      return;
  }
}

Sweep sweep(const Map& map, const NetworkModelSettings& network_settings,
            const CompareSettings& compare, Knob knob, const std::vector<KnobSetting>& settings) {
  COTILLION_CHECK(!settings.empty());
  Sweep result;
  result.knob = knob;
  const Routes routes(map);  // no knob moves a latency, or who meets whom
  MixingMemory memory;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (compare.progress)
      compare.progress(fmt::format("{} ({} of {})", settings[i].text, i + 1, settings.size()));
    Map turned = map;
    NetworkModelSettings turned_network = network_settings;
    CompareSettings turned_compare = compare;
    turned_compare.progress = nullptr;
    turn(knob, settings[i], turned, turned_network, turned_compare.plan);
    const NetworkModel network(turned, routes, turned_network);
    result.points.push_back({settings[i], score_policies(network, turned_compare, memory)});
    const std::string winner = winner_of(result.points.back().policies);
    if (result.winners.empty() || result.winners.back().winner != winner)
      result.winners.push_back({i, winner});
  }
  return result;
}

}  // namespace cotillion
