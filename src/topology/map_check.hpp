// What only a whole map can show: whether every place can be reached, and whether any link
// would be faster than light, or too long to compute with.
#pragma once

#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "topology/map.hpp"

namespace cotillion {

class Problems;

// `joints` are the ends of all links; `places` and `links` give their lines in the file.
void check_connected(const Map& map, const std::vector<std::pair<PlaceId, PlaceId>>& joints,
                     const std::vector<Position>& places, Problems& problems);
void check_light(const Map& map, const std::vector<Position>& links, Problems& problems);

// Whether times and sizes on this map stay within what is computed exactly.
void check_size(const Map& map, Problems& problems);

// The same for a payload alone: whether it fits, framing and twice its size included.
[[nodiscard]] bool payload_fits(const Map& map);

inline constexpr double kEarthRadiusKm = 6371.0;  // the mean
// Great-circle distance on a sphere of that radius.
[[nodiscard]] double distance_km(Coordinates a, Coordinates b);

}  // namespace cotillion
