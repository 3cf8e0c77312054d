#include "topology/map_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr double kEarthRadiusKm = 6371.0;
constexpr double kLightKmPerMs = 299.792458;

std::optional<Coordinates> coordinates_of(const Map& map, PlaceId place) {
  return place < map.island_count() ? map.islands[place].coordinates
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

void check_connected(const Map& map, const std::vector<Position>& places, Problems& problems) {
  std::vector<std::vector<PlaceId>> neighbours(map.place_count());
  for (const Link& link : map.links) {
    neighbours[link.ends[0]].push_back(link.ends[1]);
    neighbours[link.ends[1]].push_back(link.ends[0]);
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
                    island ? place : place - map.island_count()),
        fmt::format("disconnected map: no path from {} to {}", place_name(map, 0),
                    place_name(map, place)),
        fmt::format("add a link that joins {} to the rest, or remove it", place_name(map, place)));
  }
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
      problems.add(
          links[k], fmt::format("links[{}].latency", k),
          fmt::format("absurd latency: {}–{} is {:.0f} km, which light crosses in {:.1f} ms, "
                      "not {:.3g} ms",
                      place_name(map, link.ends[0]), place_name(map, link.ends[1]), km, least_ms,
                      claimed_ms),
          "correct the latency or the coordinates");
  }
}

}  // namespace cotillion
