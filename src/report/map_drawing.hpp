// A map as a picture, and who meets whom on it.
#pragma once

#include <string>

#include "plan/schedule.hpp"
#include "topology/map.hpp"
#include "topology/routes.hpp"

namespace cotillion {

// Islands, routers and links with their one-way latencies; a link over the edge of the map says
// where it goes, as in the paper's Figure dz9. Above forty links the numbers are left out.
[[nodiscard]] std::string map_svg(const Map& map, const Routes& routes);

// One panel a round, at most twelve: members of a clique are tied to each other, each clique in
// its own colour and dash; islands that sit out are hollow.
[[nodiscard]] std::string cliques_svg(const Map& map, const Routes& routes,
                                      const Schedule& schedule);

}  // namespace cotillion
