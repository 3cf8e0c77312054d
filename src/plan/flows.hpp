// Unicast between islands, for policies that know no multicast and no edges: each flow takes the
// latency-shortest path, and a lane's rate is shared equally by the flows on it, as for streams.
#pragma once

#include <vector>

#include "plan/network_model.hpp"

namespace cotillion {

struct Flow {
  IslandId from = 0;
  IslandId to = 0;
};

struct FlowShare {
  BitsPerSecond rate;  // the least share on any lane of its path, access lanes included
  LaneId lane = -1;    // which lane that is
  int flows = 0;       // how many flows share it
};

// Calls visit(lane) for every lane of a flow's path, access lanes included.
template <class Visit>
void visit_lanes(const NetworkModel& network, const Flow& flow, Visit visit) {
  visit(lane_up(network.map(), flow.from));
  network.routes().walk_back(flow.to, flow.from, [&](LaneId lane) {
    visit(lane);
    return true;
  });
  visit(lane_down(network.map(), flow.to));
}

// One share per flow when all of them run at once.
[[nodiscard]] std::vector<FlowShare> share_flows(const NetworkModel& network,
                                                 const std::vector<Flow>& flows);

}  // namespace cotillion
