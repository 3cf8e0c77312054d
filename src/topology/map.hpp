// What exists: islands, routers, links and edge aggregators, as plain data.
//
// A place is an island's router or a router of its own. An island hangs on its router by an
// access link of negligible length: traffic that passes through does not touch it. A lane
// is one direction of a link, core or access; every stream is counted on the lanes it uses,
// so congestion needs no special case for access.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/id.hpp"
#include "base/units.hpp"
#include "protocol/edge_spec.hpp"

namespace cotillion {

struct IslandTag {
  using IsAlso = struct PlaceTag;  // islands are the first places
};
using IslandId = Id<IslandTag>;     // index into Map::islands
using PlaceId = Id<PlaceTag>;       // an island's id, or islands.size() + index into Map::routers
using LaneId = Id<struct LaneTag>;  // see lane_of_link and lane_up
using AggregatorId = Id<struct AggregatorTag>;
inline constexpr AggregatorId kNoAggregator = -1;

// What a map may hold, whoever made it.
inline constexpr std::size_t kPlacesMax = 4096;
inline constexpr std::size_t kLinksMax = 65536;
inline constexpr Duration kLatencyMax{1'000'000'000'000};  // 1 s; half the Earth by fibre is 0.15 s

struct Coordinates {
  double latitude = 0;  // degrees, north positive
  double longitude = 0;
};

struct Island {
  std::string name;
  std::string label;   // the long form of the name, for people; may be empty
  std::string region;  // may be empty
  std::optional<Coordinates> coordinates;
  BitsPerSecond up;    // access rate out of the island
  BitsPerSecond down;  // and into it
};

struct Router {
  std::string name;
  std::optional<Coordinates> coordinates;
};

// Full duplex; index 0 is the direction from ends[0] to ends[1], index 1 the other.
struct Link {
  PlaceId ends[2];
  Duration latency[2];
  BitsPerSecond rate[2];
};

// An edge: sums the streams for each island it serves. Its memory is divided equally among
// them. At the island's own place, as the paper has it, or elsewhere on the way.
struct Aggregator {
  PlaceId place = 0;
  EdgeSpec spec;
  std::vector<IslandId> serves;
};

struct Map {
  std::string name;
  std::string source;  // where the figures come from
  Bytes payload;       // D: the model state that each island sends in a round
  EdgeSpec edge;       // of an edge that the map does not describe further
  IdVector<IslandId, Island> islands;
  std::vector<Router> routers;
  std::vector<Link> links;
  IdVector<AggregatorId, Aggregator> aggregators;

  [[nodiscard]] int island_count() const { return int(islands.size()); }
  [[nodiscard]] int place_count() const { return int(islands.size() + routers.size()); }
  [[nodiscard]] int lane_count() const { return int(2 * (links.size() + islands.size())); }
};

[[nodiscard]] const std::string& place_name(const Map& map, PlaceId place);
[[nodiscard]] std::optional<IslandId> find_island(const Map& map, const std::string& name);
[[nodiscard]] std::vector<std::string> island_names(const Map& map);

// For each island the edge that serves it, or kNoAggregator.
[[nodiscard]] IdVector<IslandId, AggregatorId> aggregator_of_islands(const Map& map);

// The share of an edge's reorder window that one of its islands has: the M of the paper's
// memory constraint.
[[nodiscard]] Bytes memory_per_island(const Aggregator& aggregator);

// "TYO–HKG", for people to read; an option spells it TYO-HKG (map_edit.hpp).
[[nodiscard]] std::string link_name(const Map& map, const Link& link);

// Lanes: two for each link in order, then up and down for each island in order.
[[nodiscard]] inline LaneId lane_of_link(int link, int direction) {
  return LaneId(2 * link + direction);
}
[[nodiscard]] LaneId lane_up(const Map& map, IslandId island);
[[nodiscard]] LaneId lane_down(const Map& map, IslandId island);
[[nodiscard]] bool is_access(const Map& map, LaneId lane);
[[nodiscard]] bool enters_island(const Map& map, LaneId lane);  // a down lane
[[nodiscard]] BitsPerSecond lane_rate(const Map& map, LaneId lane);
[[nodiscard]] Duration lane_latency(const Map& map, LaneId lane);
[[nodiscard]] std::string lane_from(const Map& map, LaneId lane);  // a place or an island
[[nodiscard]] std::string lane_to(const Map& map, LaneId lane);
// "TYO→HKG", "LON→net", "net→LON".
[[nodiscard]] std::string lane_name(const Map& map, LaneId lane);

}  // namespace cotillion
