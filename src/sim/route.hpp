// The way of a packet over the plan's lanes: where it branches, and who hears it where.
#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "plan/plan_file.hpp"

namespace cotillion {

struct Route {
  struct Step {
    LaneId lane = 0;
    std::vector<int> next;        // steps that go on from the end of this lane
    std::vector<IslandId> edges;  // whose edge hears a stream here
    IslandId own_edge = -1;       // whose own edge hears it here
    IslandId island = -1;         // that receives it here
  };
  IslandId sender = -1;
  std::vector<Step> steps;  // the first lane first
};

// A sender's stream to the edges of its clique, along the plan's tree.
[[nodiscard]] Route stream_route(const Map& map, const std::vector<Ingress>& ingress,
                                 const Stream& stream);
// From an island's edge to the island.
[[nodiscard]] Route ingress_route(const Ingress& ingress, IslandId island);
// Requests, from an island to its edge: its up lane stands for the whole way back.
[[nodiscard]] Route request_route(const Map& map, IslandId island);

}  // namespace cotillion
