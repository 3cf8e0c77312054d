// Along a stream's tree, lane by lane: where lanes begin and end, and which of them lead from the
// sender to a place.
#pragma once

#include <vector>

#include "topology/map.hpp"

namespace cotillion {

// An access lane begins and ends at the island's own place.
[[nodiscard]] PlaceId lane_begins(const Map& map, LaneId lane);
[[nodiscard]] PlaceId lane_ends(const Map& map, LaneId lane);

// The lane of the tree by which the stream came to where this one begins; for the first lane, which
// is the sender's up lane, that lane itself.
[[nodiscard]] LaneId lane_before(const Map& map, const std::vector<LaneId>& tree, LaneId lane);

// From the sender's up lane to the one that enters a place of the tree.
[[nodiscard]] std::vector<LaneId> way_along(const Map& map, const std::vector<LaneId>& tree,
                                            PlaceId to);

}  // namespace cotillion
