#include "plan/flows.hpp"

#include <limits>

namespace cotillion {
std::vector<FlowShare> share_flows(const NetworkModel& network, const std::vector<Flow>& flows) {
  std::vector<int> load(network.map().lane_count(), 0);
  for (const Flow& flow : flows) visit_lanes(network, flow, [&](LaneId lane) { ++load[lane]; });
  std::vector<FlowShare> shares;
  for (const Flow& flow : flows) {
    FlowShare least{{std::numeric_limits<double>::infinity()}, -1, 0};
    visit_lanes(network, flow, [&](LaneId lane) {
      const BitsPerSecond share = lane_rate(network.map(), lane) / load[lane];
      if (share < least.rate) least = {share, lane, load[lane]};
    });
    shares.push_back(least);
  }
  return shares;
}

}  // namespace cotillion
