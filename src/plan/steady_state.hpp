// What lanes and edges hold when rounds follow each other for ever: sums over one period of
// everything that is under way at once, of two rounds where they overlap. It knows offsets, rates,
// trees and sums of a plan, and nothing of how they were found.
#pragma once

#include <vector>

#include "plan/file/plan_file.hpp"

namespace cotillion {

// The most that flows on a lane at once.
[[nodiscard]] IdVector<LaneId, BitsPerSecond> lane_peaks(const NetworkModel& network,
                                                         const Plan& plan);

// The most bytes of payload that the edge in front of each island holds for it at once: from the
// first byte that has arrived to the last that has left, counted through rounds; zero where
// nothing is summed.
[[nodiscard]] IdVector<IslandId, double> edge_peaks(const NetworkModel& network, const Plan& plan);

// The same of a plan that was read back, with its map and the last parts of ways.
struct PlanOnMap {
  const Plan& plan;
  const Map& map;
  const IdVector<IslandId, Ingress>& ingress;
};
[[nodiscard]] IdVector<LaneId, BitsPerSecond> lane_peaks(const PlanOnMap& given);
[[nodiscard]] IdVector<IslandId, double> edge_peaks(const PlanOnMap& given);

}  // namespace cotillion
