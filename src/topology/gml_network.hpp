// GML graphs as networks: those of the Internet Topology Zoo, and those that carry distances.
#pragma once

#include <string_view>

#include "topology/imported_network.hpp"

namespace cotillion {

// Reads graph.label or graph.Network; node.id, .label, .Longitude, .Latitude; edge.source,
// .target, .distance in km. Without a distance that of the ends' coordinates serves. All else
// is ignored. Mistakes are added to `problems`.
[[nodiscard]] ImportedNetwork read_gml_network(std::string_view text, const ImportOptions& options,
                                               Problems& problems);

}  // namespace cotillion
