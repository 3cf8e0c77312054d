// A map as the planner sees it: which technologies are on, how much memory each island
// has in front of it, how much is sent, and the latency from every island to every other
// through its edge. Everything that prices or plays a schedule starts from a NetworkModel.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plan/schedule.hpp"
#include "plan/walks.hpp"
#include "topology/map.hpp"
#include "topology/routes.hpp"

namespace cotillion {

// Each on its own. Without multicast a sender emits one copy per receiver; without edge
// aggregation every stream enters the receiver's access link, and no memory is needed.
struct Technology {
  bool multicast = true;
  bool aggregation = true;
  friend bool operator==(const Technology&, const Technology&) = default;
};
[[nodiscard]] std::string_view to_name(Technology technology);  // "both", "multicast", …
[[nodiscard]] std::optional<Technology> technology_named(std::string_view name);

struct NetworkModelSettings {
  Technology technology;
  // Momentum by shipping its state with the weights (the paper's Section 3.3): twice the bytes.
  // The memory of an edge then holds half as many weights, which is the same number of bytes.
  bool ships_state = false;
};

class NetworkModel {
 public:
  // Keeps references: map and routes must outlive the network.
  NetworkModel(const Map& map, const Routes& routes, NetworkModelSettings settings = {});

  [[nodiscard]] const Map& map() const { return map_; }
  [[nodiscard]] const Routes& routes() const { return routes_; }
  [[nodiscard]] const NetworkModelSettings& settings() const { return settings_; }
  [[nodiscard]] Technology technology() const { return settings_.technology; }

  [[nodiscard]] Bytes payload() const { return payload_; }  // D
  // Bytes on a link per byte of payload: 1 unless the map sets framing.
  [[nodiscard]] double wire_factor() const { return wire_factor_; }

  // To island i from island j: by way of i's edge where it has one.
  [[nodiscard]] Duration latency(IslandId to, IslandId from) const {
    return latency_[std::size_t(to) * map_.islands.size() + from];
  }
  void latencies(const Clique& clique, CliqueLatencies& into) const;

  [[nodiscard]] bool aggregates(IslandId island) const { return edge_[island] != kNoAggregator; }
  [[nodiscard]] AggregatorId edge(IslandId island) const { return edge_[island]; }
  // Where streams for this island are summed; the island itself where nothing sums them.
  [[nodiscard]] PlaceId meeting_place(IslandId island) const { return meeting_place_[island]; }
  // M: bytes of payload its edge can hold; kUnlimited where nothing is summed.
  [[nodiscard]] double memory(IslandId island) const { return memory_[island]; }

 private:
  const Map& map_;
  const Routes& routes_;
  NetworkModelSettings settings_;
  Bytes payload_;
  double wire_factor_ = 1;
  std::vector<Duration> latency_;
  IdVector<IslandId, AggregatorId> edge_;
  IdVector<IslandId, PlaceId> meeting_place_;
  IdVector<IslandId, double> memory_;
};

}  // namespace cotillion
