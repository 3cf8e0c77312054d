// How streams come to an island from where they meet, read back from a plan: the lanes must lead
// from that place to the island, and take as long as it says.
#pragma once

#include <optional>

#include "plan/file/plan_fields.hpp"

namespace cotillion {

// More than any way through a sound map takes, in milliseconds.
inline constexpr double kLatencySumMax = 1e8;

// Where a lane of a link starts and ends.
[[nodiscard]] inline PlaceId lane_start(const Map& map, LaneId lane) {
  return map.links[lane / 2].ends[lane % 2];
}
[[nodiscard]] inline PlaceId lane_end(const Map& map, LaneId lane) {
  return map.links[lane / 2].ends[1 - lane % 2];
}

// `edge` sums the island's streams, if anything does. Nothing when there is a mistake in it.
[[nodiscard]] std::optional<Ingress> read_ingress(const PlanField& island, IslandId id,
                                                  const Map& map, AggregatorId edge);

}  // namespace cotillion
