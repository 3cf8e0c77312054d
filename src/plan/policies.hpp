// Every schedule and every rival on one map, scored alike.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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

// Best first, as sort_best_first() has it.
// `memory` must have been used for this map only.
[[nodiscard]] std::vector<Policy> score_policies(const NetworkModel& network,
                                                 const CompareSettings& settings,
                                                 MixingMemory& memory);

// The best by the chosen objective of all rivals that train while they exchange; nothing where none
// of them ever settles.
[[nodiscard]] std::optional<Policy> best_rival(const NetworkModel& network,
                                               const CompareSettings& settings);

}  // namespace cotillion
