#include "topology/map_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "topology/routes.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr double kLightKmPerMs = 299.792458;

std::optional<Coordinates> coordinates_of(const Map& map, PlaceId place) {
  return place < map.island_count() ? map.islands[IslandId(int(place))].coordinates
                                    : map.routers[place - map.island_count()].coordinates;
}

}  // namespace

double distance_km(Coordinates a, Coordinates b) {
  const auto radians = [](double degrees) { return degrees * std::numbers::pi / 180; };
  const double dlat = std::sin(radians(b.latitude - a.latitude) / 2);
  const double dlon = std::sin(radians(b.longitude - a.longitude) / 2);
  const double haversine =
      dlat * dlat + std::cos(radians(a.latitude)) * std::cos(radians(b.latitude)) * dlon * dlon;
  return 2 * kEarthRadiusKm * std::asin(std::sqrt(std::min(1.0, haversine)));
}

void check_connected(const Map& map, const std::vector<std::pair<PlaceId, PlaceId>>& joints,
                     const std::vector<Position>& places, Problems& problems) {
  if (map.place_count() == 0) return;
  std::vector<std::vector<PlaceId>> neighbours(map.place_count());
  for (const auto& [a, b] : joints) {
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  std::vector<bool> reached(map.place_count(), false);
  std::vector<PlaceId> open{0};
  reached[0] = true;
  while (!open.empty()) {
    const PlaceId at = open.back();
    open.pop_back();
    for (const PlaceId next : neighbours[at])
      if (!reached[next]) {
        reached[next] = true;
        open.push_back(next);
      }
  }
  for (PlaceId place = 0; place < map.place_count(); ++place) {
    if (reached[place]) continue;
    const bool island = place < map.island_count();
    problems.add(
        places[place],
        fmt::format("{}[{}]", island ? "islands" : "routers",
                    int(place) - (island ? 0 : map.island_count())),
        fmt::format("disconnected map: no path from {} to {}", place_name(map, 0),
                    place_name(map, place)),
        fmt::format("add a link that joins {} to the rest, or remove it", place_name(map, place)));
  }
}

bool payload_fits(const Map& map) {
  constexpr double kPayloadMax = 1e14;  // a hundred terabytes
  const double chunks = double(map.payload.count) / double(map.edge.chunk.count);
  return double(map.payload.count) + (chunks + 1) * double(map.edge.framing.count) <= kPayloadMax;
}

void check_size(const Map& map, Problems& problems) {
  if (!payload_fits(map))
    problems.add({}, "payload", "more than 100 TB on the wire, framing included",
                 "check the units of payload, chunk and framing");
  // The price of a clique adds up one latency per member, each by way of an edge, in integers of
  // picoseconds below 2^53. The sum of all links bounds any latency; routes only if that is much.
  constexpr double kExact = 9007199254740992.0;
  double longest = 0;
  for (const Link& link : map.links)
    longest += double(std::max(link.latency[0], link.latency[1]).ps);
  const double uses = 2.0 * (map.island_count() + 1);
  if (longest * uses < kExact) return;
  const Routes routes(map);
  longest = 0;
  for (IslandId from = 0; from < map.island_count(); ++from)
    for (PlaceId to = 0; to < map.place_count(); ++to)
      longest = std::max(longest, double(routes.latency(to, from).ps));
  if (longest * uses >= kExact)
    problems.add({}, "links",
                 fmt::format("paths of up to {:.1f} s between {} islands", longest / 1e12,
                             map.island_count()),
                 "check the units of latencies; no such network exists on Earth");
}

void check_light(const Map& map, const std::vector<Position>& links, Problems& problems) {
  for (std::size_t k = 0; k < map.links.size(); ++k) {
    const Link& link = map.links[k];
    const auto a = coordinates_of(map, link.ends[0]);
    const auto b = coordinates_of(map, link.ends[1]);
    if (!a || !b) continue;
    const double km = distance_km(*a, *b);
    const double least_ms = km / kLightKmPerMs;
    const double claimed_ms = std::min(link.latency[0], link.latency[1]).ms();
    if (claimed_ms < least_ms)
      problems.add(links[k], fmt::format("links[{}].latency", k),
                   fmt::format("absurd latency: {} is {:.0f} km, which light crosses in {:.1f} ms, "
                               "not {:.3g} ms",
                               link_name(map, link), km, least_ms, claimed_ms),
                   "correct the latency or the coordinates");
  }
}

}  // namespace cotillion
