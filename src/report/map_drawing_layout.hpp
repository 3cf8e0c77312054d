// Where the places of a map stand in a picture. With coordinates: an equirectangular map, cut
// where the fewest links cross, stretched to the frame, and close places pushed apart (London and
// Amsterdam would cover each other on any map of the world). Without: distances in the picture
// follow latencies as well as a plane allows.
#pragma once

#include <vector>

#include "report/svg.hpp"
#include "topology/map.hpp"
#include "topology/routes.hpp"

namespace cotillion {

struct MapLayout {
  std::vector<Point> places;  // by PlaceId, inside the frame
  bool geographic = false;
  double turn = 0;           // pixels once round the globe; zero when not geographic
  std::vector<bool> around;  // by link: leaves the picture on one side, comes back on the other
};

// Places are at least `apart` from each other where the frame has room for that.
[[nodiscard]] MapLayout lay_out_map(const Map& map, const Routes& routes, const Box& frame,
                                    double apart);

// The longitude at which to cut the globe: between two neighbouring places, where the fewest links
// cross; among equals in the middle of the widest gap. Links go the short way round.
[[nodiscard]] double best_cut(const std::vector<double>& longitudes,
                              const std::vector<std::pair<double, double>>& links);

}  // namespace cotillion
