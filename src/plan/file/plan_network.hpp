// The map that a plan carries, read back from its JSON, so that whoever plays the plan needs
// neither the map file nor a router. Which lane belongs to which link or island follows from
// their order (map.hpp); the names that lanes carry beside it must agree.
#pragma once

#include <vector>

#include "plan/file/plan_fields.hpp"

namespace cotillion {

// What `network`, `payload_bytes` and `memory_bytes` of a plan say, made for these settings. The
// islands are there whenever all of them could be read, the rest only if `sound`.
struct PlanNetwork {
  Map map;  // without its source, which plans do not carry
  IdVector<IslandId, Ingress> ingress;
  bool sound = true;
};
[[nodiscard]] PlanNetwork read_network(const PlanField& plan, const NetworkModelSettings& settings);

}  // namespace cotillion
