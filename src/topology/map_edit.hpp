// A map with one thing changed, for asking what difference it would make. What comes back is as
// sound as what a file gives: connected, no link faster than light, times that can be computed
// with. Errors say what is wrong and what to do, and leave it to the caller to name the option.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "topology/map.hpp"

namespace cotillion {

// The link "TYO-FRA", its ends in either order. Names may hold dashes themselves, so every dash
// is tried as the one between them. An index into Map::links.
[[nodiscard]] Result<int> find_link(const Map& map, std::string_view ends);

[[nodiscard]] Result<Map> without_link(Map map, std::string_view ends);

// The island's compute leaves, and its edge with it unless that serves others too. Its place
// stays and forwards: it is a router now, and all links are what they were.
[[nodiscard]] Result<Map> without_island(const Map& map, const std::string& name);

// Both directions alike.
[[nodiscard]] Result<Map> with_access(Map map, const std::string& name, BitsPerSecond rate);
[[nodiscard]] Result<Map> with_link_rate(Map map, std::string_view ends, BitsPerSecond rate);
[[nodiscard]] Result<Map> with_link_latency(Map map, std::string_view ends, Duration latency);

}  // namespace cotillion
