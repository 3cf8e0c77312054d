// Every policy there is, on a map of three islands in two regions: what must learn, in tests and in
// benchmarks.
#pragma once

#include <string>
#include <vector>

#include "tests/support/plan/plans.hpp"

namespace cotillion::testing {

[[nodiscard]] inline const std::vector<std::string>& every_policy() {
  static const std::vector<std::string> kAll = {
      "plan",
      "plan:fragments=8",
      "plan:own-weight=0.7",
      "plan:momentum=0.3,at=sender",
      "pairs",
      "pairs:fragments=8",
      "synchronous:network=free",
      "synchronous:network=hardware",
      "synchronous:network=ring",
      "synchronous:network=butterfly",
      "local-sgd:steps=8",
      "diloco:steps=8,momentum=0.5",
      "streaming-diloco:network=hardware",
      "eager-diloco:momentum=0.5",
      "noloco:steps=8",
      "d-psgd",
      "one-peer",
      "base",
      "matcha",
      "random-pairs",
      "halos",
  };
  return kAll;
}

[[nodiscard]] inline PlanFile three_island_plan() {
  PlanSettings settings;
  settings.step_time = RealDuration::from_ps(100e9);
  Map map = example_map("isosceles");
  for (const IslandId i : map.islands.ids()) map.islands[i].region = i < 2 ? "west" : "east";
  return plan_file(std::move(map), "all-to-all", settings);
}

}  // namespace cotillion::testing
