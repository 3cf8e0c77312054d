// What only a whole map can show: whether every place can be reached, and whether any link
// would be faster than light.
#pragma once

#include <vector>

#include "base/diagnostic.hpp"
#include "topology/map.hpp"

namespace cotillion {

class Problems;

// `places` and `links` give the line of each place and link in the file.
void check_connected(const Map& map, const std::vector<Position>& places, Problems& problems);
void check_light(const Map& map, const std::vector<Position>& links, Problems& problems);

// Great-circle distance on a sphere of the Earth's mean radius.
[[nodiscard]] double distance_km(Coordinates a, Coordinates b);

}  // namespace cotillion
