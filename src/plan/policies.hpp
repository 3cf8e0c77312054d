// Every schedule and every rival on one map, scored alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/policy.hpp"
#include "plan/rivals.hpp"

namespace cotillion {

struct CompareSettings {
  PlanSettings plan;
  int local_steps = 8;                               // H of blocking local SGD
  int diloco_steps = 50;                             // H of DiLoCo
  std::uint64_t seed = 1;                            // of the random pairs
  std::vector<IslandId> ring_order;                  // empty: the best order is sought
  std::function<void(const std::string&)> progress;  // told what is being scored; may be empty
};

// Best first: policies that train while they exchange by the chosen objective, then blocking ones
// by utilisation, then what cannot be done.
// `memory` must have been used for this map only.
[[nodiscard]] std::vector<Policy> score_policies(const NetworkModel& network,
                                                 const CompareSettings& settings,
                                                 MixingMemory& memory);

// One of our schedules as a policy.
[[nodiscard]] Policy policy_of(const NetworkModel& network, const Plan& plan);

void sort_best_first(std::vector<Policy>& policies, Objective objective);

}  // namespace cotillion
