#include "plan/policy.hpp"

#include <algorithm>
#include <tuple>

#include "base/infinity.hpp"
#include "plan/explain.hpp"

namespace cotillion {

Policy policy_of(const NetworkModel& network, const Plan& plan) {
  const RealDuration never = RealDuration::from_ps(kInfinity);
  Policy policy;
  policy.name = plan.schedule;
  policy.feasible = plan.feasible;
  policy.runnable = plan.runnable;
  policy.exchange = plan.feasible ? plan.round : never;
  policy.cycle = !plan.feasible              ? never
                 : plan.settings.relax.any() ? plan.mean_length()
                                             : plan.rounds[0].length;
  policy.area = plan.mixing.area;
  policy.objectives = plan.objectives;
  policy.settles_after = plan.mixing.settles_after;
  policy.egress.assign(network.map().islands.size(), 0);
  policy.ingress = policy.egress;
  const PlannedClique* dearest = nullptr;
  double period = 0;
  for (const PlannedRound& round : plan.rounds) {
    period += round.length.seconds();
    for (const PlannedClique& clique : round.cliques)
      if (dearest == nullptr || !clique.feasible ||
          (dearest->feasible && clique.price > dearest->price))
        dearest = &clique;
    for (IslandId i = 0; i < network.map().island_count(); ++i)
      for (const LaneUse& use : round.lanes) {
        if (use.lane == lane_up(network.map(), i)) policy.egress[i] += double(use.bytes.count);
        if (use.lane == lane_down(network.map(), i)) policy.ingress[i] += double(use.bytes.count);
      }
  }
  if (dearest != nullptr) policy.binding = binding_phrase(network, *dearest);
  for (double& rate : policy.egress) rate = plan.feasible && period > 0 ? rate / period : 0;
  for (double& rate : policy.ingress) rate = plan.feasible && period > 0 ? rate / period : 0;
  return policy;
}

void sort_best_first(std::vector<Policy>& policies, Objective objective) {
  const auto rank = [&](const Policy& policy) {
    return std::tuple(!policy.feasible, policy.blocking,
                      policy.blocking ? -policy.utilisation : policy.objective(objective).ps);
  };
  std::stable_sort(policies.begin(), policies.end(),
                   [&](const Policy& a, const Policy& b) { return rank(a) < rank(b); });
}

}  // namespace cotillion
