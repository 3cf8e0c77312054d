// A map for people, and as JSON: islands, links, shortest-path latencies, the tree of a sender.
#pragma once

#include <string>
#include <vector>

#include "plan/file/plan_file.hpp"
#include "topology/map.hpp"
#include "topology/routes.hpp"

namespace cotillion {

[[nodiscard]] std::string map_text(const Map& map, const Routes& routes);
[[nodiscard]] Json map_json(const Map& map, const Routes& routes);

// The multicast tree from `sender` to `receivers`, drawn from the root.
[[nodiscard]] std::string tree_text(const Map& map, const Routes& routes, IslandId sender,
                                    const std::vector<IslandId>& receivers);
[[nodiscard]] Json tree_json(const Map& map, const Routes& routes, IslandId sender,
                             const std::vector<IslandId>& receivers);

}  // namespace cotillion
