// A way to exchange updates, scored: one of our schedules, or what people use today. Every
// policy is priced on the same map, with the same objectives and the same optimism: no ramp-up,
// no stragglers, links shared equally among the streams on them. docs/understand/model.md says how
// each is computed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace cotillion {

struct Policy {
  enum class Kind { kSchedule, kRival };
  Kind kind = Kind::kSchedule;
  std::string name;
  bool feasible = true;
  bool runnable = true;
  bool blocking = false;       // GPUs wait for the exchange; otherwise training goes on meanwhile
  RealDuration exchange;       // one exchange from start to last byte: T
  RealDuration cycle;          // from one exchange to the next: T, or H·τ + T when blocking
  std::optional<double> area;  // A; nothing for blocking policies, infinite if never settled
  std::vector<RealDuration> objectives;  // by kObjectives
  std::optional<int> settles_after;      // rounds, if exactly
  double utilisation = 1;                // share of time in which GPUs train
  std::vector<double> egress;            // bytes per second out of each island, mean over a cycle
  std::vector<double> ingress;           // and into it
  std::string binding;                   // what limits it, in a phrase
  std::string note;                      // how it was computed, where there was a choice

  [[nodiscard]] RealDuration objective(Objective which) const {
    return objectives[std::size_t(which)];
  }
};

// One of our schedules as a policy.
[[nodiscard]] Policy policy_of(const NetworkModel& network, const Plan& plan);

// Best first: policies that train while they exchange by the chosen objective, then blocking ones
// by utilisation, then what cannot be done.
void sort_best_first(std::vector<Policy>& policies, Objective objective);

}  // namespace cotillion
