// The way of a packet over the plan's lanes: where it branches, and who hears it where.
#pragma once

#include <span>
#include <vector>

#include "plan/file/plan_file.hpp"
#include "plan/plan.hpp"

namespace cotillion {

class Route {
 public:
  // One lane of the way. Kept small and in one piece: every packet reads it on every hop.
  struct Step {
    LaneId lane = 0;
    IslandId sender = -1;
    // Steps that go on from the end of this lane lie together, and so do those whose edge hears
    // the stream there.
    const Step* next = nullptr;
    const IslandId* edges = nullptr;
    std::int16_t next_count = 0;
    std::int16_t edge_count = 0;
    IslandId own_edge = -1;  // whose own edge hears it here
    IslandId island = -1;    // that receives it here

    [[nodiscard]] std::span<const Step> onward() const { return {next, std::size_t(next_count)}; }
    [[nodiscard]] std::span<const IslandId> heard_by() const {
      return {edges, std::size_t(edge_count)};
    }
    [[nodiscard]] bool heard() const { return edge_count > 0 || own_edge >= 0 || island >= 0; }
  };

  Route() = default;
  Route(Route&&) = default;  // steps point at one another: movable, not copyable
  Route& operator=(Route&&) = default;
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;

  // A sender's stream to the edges of its clique, along the plan's tree.
  [[nodiscard]] static Route of_stream(const Map& map, const IdVector<IslandId, Ingress>& ingress,
                                       const Stream& stream);
  // From an island's edge to the island.
  [[nodiscard]] static Route into(const Ingress& ingress, IslandId island);
  // Requests, from an island to its edge: its up lane stands for the whole way back.
  [[nodiscard]] static Route of_requests(const Map& map, IslandId island);

  [[nodiscard]] bool empty() const { return steps_.empty(); }
  [[nodiscard]] const Step& first() const { return steps_.front(); }
  [[nodiscard]] std::span<const Step> steps() const { return steps_; }

 private:
  std::vector<Step> steps_;  // those after the same step lie together
  std::vector<IslandId> edges_;
};

}  // namespace cotillion
