// Unicast flows around full lanes: what `--relax routes` is worth to rivals that know no multicast.
#pragma once

#include <optional>
#include <vector>

#include "plan/flows.hpp"

namespace cotillion {

struct FlowWay {
  std::vector<LaneId> lanes;  // access lanes included
  Duration latency;
};

[[nodiscard]] std::vector<FlowWay> shortest_flow_ways(const NetworkModel& network,
                                                      const std::vector<Flow>& flows);

// Ways on which every flow gets this rate, if its access lanes allow it. Flows start on their
// shortest ways and leave overfull lanes one at a time, the one first that then flies the least
// way longer. Nothing where nobody can give way.
[[nodiscard]] std::optional<std::vector<FlowWay>> spread_flows(const NetworkModel& network,
                                                               const std::vector<Flow>& flows,
                                                               BitsPerSecond rate);

// One share per flow when all of them run at once.
[[nodiscard]] std::vector<FlowShare> share_flows(const NetworkModel& network,
                                                 const std::vector<FlowWay>& ways);

}  // namespace cotillion
