// The coordinator as /metrics and /status show it.
#pragma once

#include <string>

#include "daemon/clock_trust.hpp"
#include "daemon/metric.hpp"
#include "job/coordinator.hpp"

namespace cotillion {

// What of it the coordinator itself does not say.
struct CoordinatorStatus {
  const Map& map;
  std::string version;
  std::string plan;  // its fingerprint
  int rounds = 0;
  ClockTrust clock;
};

[[nodiscard]] Metrics to_metrics(const Coordinator& coordinator, const CoordinatorStatus& about);
// The fields are in docs/reference/metrics.md.
[[nodiscard]] std::string to_status(const Coordinator& coordinator, const CoordinatorStatus& about);

// "playing": a word for the state, for machines.
[[nodiscard]] const char* key_of(CoordinatorState state);

}  // namespace cotillion
