#include "topology/map_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "topology/map_check.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

std::vector<std::string> place_names(const Map& map) {
  std::vector<std::string> names = island_names(map);
  for (const Router& router : map.routers) names.push_back(router.name);
  return names;
}

Unexpected<Error> unknown(std::string_view what, const std::string& name,
                          const std::vector<std::string>& known) {
  return failure(fmt::format("unknown {} '{}'; {}", what, shown(name),
                             did_you_mean(name, known, "cotillion topology show lists them")));
}

// The two names when the text is split at this dash, if both are places.
std::optional<std::pair<PlaceId, PlaceId>> split_at(const std::vector<std::string>& names,
                                                    std::string_view ends, std::size_t dash) {
  const auto a = std::find(names.begin(), names.end(), ends.substr(0, dash));
  const auto b = std::find(names.begin(), names.end(), ends.substr(dash + 1));
  if (a == names.end() || b == names.end()) return std::nullopt;
  return std::pair(PlaceId(a - names.begin()), PlaceId(b - names.begin()));
}

// What a whole map can show, as the reader of files checks it.
Result<Map> sound(Map map) {
  Problems problems("");
  std::vector<std::pair<PlaceId, PlaceId>> joints;
  for (const Link& link : map.links) joints.emplace_back(link.ends[0], link.ends[1]);
  check_connected(map, joints, std::vector<Position>(std::size_t(map.place_count())), problems);
  if (!problems.empty())
    return failure(fmt::format("the map falls apart: {}; keep a link between its parts",
                               problems.take().front().message));
  check_light(map, std::vector<Position>(map.links.size()), problems);
  if (problems.empty()) check_size(map, problems);
  if (problems.empty()) return map;
  const Diagnostic first = problems.take().front();
  return failure(first.message + "; " + first.remedy);
}

}  // namespace

Result<int> find_link(const Map& map, std::string_view ends) {
  const std::vector<std::string> names = place_names(map);
  std::optional<std::pair<PlaceId, PlaceId>> places;
  for (std::size_t dash = ends.find('-'); dash != std::string_view::npos;
       dash = ends.find('-', dash + 1)) {
    const auto split = split_at(names, ends, dash);
    if (!split) continue;
    places = split;
    for (std::size_t k = 0; k < map.links.size(); ++k) {
      const Link& link = map.links[k];
      if (std::minmax(link.ends[0], link.ends[1]) == std::minmax(split->first, split->second))
        return int(k);
    }
  }
  if (places) {
    std::string neighbours;
    for (const Link& link : map.links)
      for (const int end : {0, 1})
        if (link.ends[end] == places->first)
          neighbours += (neighbours.empty() ? "" : ", ") + place_name(map, link.ends[1 - end]);
    return failure(fmt::format("there is no link between {} and {}; {} is linked to {}",
                               names[places->first], names[places->second], names[places->first],
                               neighbours.empty() ? "nothing" : shown(neighbours, 400)));
  }
  const std::size_t dash = ends.find('-');
  if (dash == std::string_view::npos || std::count(ends.begin(), ends.end(), '-') > 1) {
    std::vector<std::string> links;
    for (const Link& link : map.links)
      for (const int end : {0, 1})
        links.push_back(place_name(map, link.ends[end]) + "-" +
                        place_name(map, link.ends[1 - end]));
    return failure(fmt::format("no link is called '{}'; {}", shown(ends),
                               did_you_mean(ends, links, "name its two ends, as in TYO-FRA")));
  }
  const std::string first(ends.substr(0, dash)), second(ends.substr(dash + 1));
  const bool first_known = std::find(names.begin(), names.end(), first) != names.end();
  return unknown("island or router", first_known ? second : first, names);
}

Result<Map> without_link(Map map, std::string_view ends) {
  const auto found = find_link(map, ends);
  if (!found) return Unexpected{found.error()};
  map.links.erase(map.links.begin() + *found);
  return sound(std::move(map));
}

Result<Map> without_island(const Map& map, const std::string& name) {
  const auto leaving = find_island(map, name);
  if (!leaving) return unknown("island", name, island_names(map));
  if (map.islands.size() == 1)
    return failure(fmt::format("{} is the only island; a map needs one", name));
  const int others = map.island_count() - 1;
  // Islands close ranks, routers follow them, and the place that was the island's comes last.
  const auto place = [&](PlaceId old) {
    if (old == *leaving) return PlaceId(others + int(map.routers.size()));
    return PlaceId(old - (old < *leaving ? 0 : 1));
  };
  Map changed = map;
  changed.islands.plain().erase(changed.islands.begin() + *leaving);
  changed.routers.push_back({name, map.islands[*leaving].coordinates});
  for (Link& link : changed.links)
    for (PlaceId& end : link.ends) end = place(end);
  for (Aggregator& aggregator : changed.aggregators) {
    std::erase(aggregator.serves, *leaving);
    for (IslandId& island : aggregator.serves) island = IslandId(int(place(island)));
    aggregator.place = place(aggregator.place);
  }
  std::erase_if(changed.aggregators.plain(),
                [](const Aggregator& edge) { return edge.serves.empty(); });
  return sound(std::move(changed));
}

Result<Map> with_access(Map map, const std::string& name, BitsPerSecond rate) {
  const auto island = find_island(map, name);
  if (!island) return unknown("island", name, island_names(map));
  if (!(rate.value > 0))
    return failure(fmt::format("zero access rate; to have {} leave, remove the island", name));
  map.islands[*island].up = map.islands[*island].down = rate;
  return map;
}

Result<Map> with_link_rate(Map map, std::string_view ends, BitsPerSecond rate) {
  const auto found = find_link(map, ends);
  if (!found) return Unexpected{found.error()};
  if (!(rate.value > 0)) return failure("zero rate; to be without the link, remove it");
  Link& link = map.links[*found];
  link.rate[0] = link.rate[1] = rate;
  return map;
}

Result<Map> with_link_latency(Map map, std::string_view ends, Duration latency) {
  const auto found = find_link(map, ends);
  if (!found) return Unexpected{found.error()};
  if (latency > kLatencyMax)
    return failure(fmt::format("a latency of {}; at most {} is believed, check the unit",
                               to_text(latency), to_text(kLatencyMax)));
  Link& link = map.links[*found];
  link.latency[0] = link.latency[1] = latency;
  return sound(std::move(map));
}

}  // namespace cotillion
