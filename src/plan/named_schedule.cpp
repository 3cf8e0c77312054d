#include "plan/named_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>

#include "base/suggestion.hpp"
#include "base/text.hpp"

namespace cotillion {
namespace {

// The paper's Section 5: its line for pairs, and its second round of triangles.
constexpr std::string_view kNineCities[] = {"SIN", "HKG", "TYO", "LAX", "WAS",
                                            "NYC", "LON", "AMS", "FRA"};
constexpr std::string_view kPaperTriangles[2][3][3] = {
    {{"FRA", "AMS", "LON"}, {"NYC", "WAS", "LAX"}, {"TYO", "SIN", "HKG"}},
    {{"LON", "NYC", "SIN"}, {"TYO", "FRA", "LAX"}, {"AMS", "WAS", "HKG"}},
};

// The ids of the paper's nine cities in the order of its line, when the map is of them.
std::optional<std::vector<IslandId>> nine_cities(const Map& map) {
  if (map.islands.size() != std::size(kNineCities)) return std::nullopt;
  std::vector<IslandId> line;
  for (const std::string_view name : kNineCities) {
    const auto island = find_island(map, std::string(name));
    if (!island) return std::nullopt;
    line.push_back(*island);
  }
  return line;
}

using Groups = std::vector<std::vector<IslandId>>;

Round round_of(const Groups& groups, int island_count) {
  std::vector<Clique> cliques;
  for (const auto& group : groups) cliques.push_back({group, {}});
  return completed(std::move(cliques), island_count);
}

// Regions in order of first appearance; empty when any island has none.
Groups regions_of(const Map& map) {
  std::map<std::string, std::size_t> index;
  Groups regions;
  for (IslandId i = 0; i < map.island_count(); ++i) {
    const std::string& region = map.islands[i].region;
    if (region.empty()) return {};
    const auto [known, fresh] = index.emplace(region, regions.size());
    if (fresh) regions.emplace_back();
    regions[known->second].push_back(i);
  }
  return regions;
}

// Latency there and back, so that order does not depend on direction.
Duration round_trip(const Routes& routes, IslandId a, IslandId b) {
  return routes.latency(a, b) + routes.latency(b, a);
}

Result<Schedule> all_to_all(const Map& map) {
  std::vector<IslandId> all;
  for (IslandId i = 0; i < map.island_count(); ++i) all.push_back(i);
  return Schedule{"all-to-all", {round_of({all}, map.island_count())}};
}

Result<Schedule> pairs(const Map& map, const Routes& routes) {
  const std::vector<IslandId> line = nine_cities(map).value_or(line_of_islands(map, routes));
  Schedule schedule{"pairs", {}};
  for (std::size_t first = 0; first < 2; ++first) {
    Groups groups;
    for (std::size_t i = first; i + 1 < line.size(); i += 2)
      groups.push_back({line[i], line[i + 1]});
    // Two islands need one round only; one island still needs a round to exist.
    if (!groups.empty() || (first == 0 && line.size() < 2))
      schedule.rounds.push_back(round_of(groups, map.island_count()));
  }
  return schedule;
}

Result<Schedule> triangles(const Map& map, const Routes& routes) {
  const int n = map.island_count();
  Schedule schedule{"triangles", {}};
  if (nine_cities(map)) {
    for (const auto& round : kPaperTriangles) {
      Groups groups;
      for (const auto& triangle : round) {
        groups.emplace_back();
        for (const std::string_view name : triangle)
          groups.back().push_back(*find_island(map, std::string(name)));
      }
      schedule.rounds.push_back(round_of(groups, n));
    }
    return schedule;
  }
  if (n % 3 != 0)
    return failure(fmt::format(
        "triangles are not defined for {} islands, which is no multiple of three; use pairs, "
        "all-to-all, grid or a schedule file",
        n));
  // Neighbours on the line, then islands a third of the line apart. Where a third is itself a
  // multiple of three the two rounds never leave their columns, and a shifted round joins them.
  const std::vector<IslandId> line = line_of_islands(map, routes);
  const int third = n / 3;
  Groups near, far, shifted;
  for (int i = 0; i < third; ++i) {
    near.push_back({line[3 * i], line[3 * i + 1], line[3 * i + 2]});
    far.push_back({line[i], line[i + third], line[i + 2 * third]});
    shifted.push_back({line[3 * i + 1], line[3 * i + 2], line[(3 * i + 3) % n]});
  }
  schedule.rounds.push_back(round_of(near, n));
  if (n > 3) schedule.rounds.push_back(round_of(far, n));
  if (n > 9 && third % 3 == 0) schedule.rounds.push_back(round_of(shifted, n));
  return schedule;
}

// One round of regions, then rounds of bridges: the nearest pairs of islands of two regions,
// one bridge for each pair of regions and each island in at most one, until regions connect.
Result<Schedule> regional(const Map& map, const Routes& routes) {
  const int n = map.island_count();
  const Groups regions = regions_of(map);
  if (regions.size() < 2)
    return failure(
        "the regional schedule needs every island to have a region, and two regions at least; "
        "add region = \"…\" to each island of the map");
  // Ties go by name, so that the order of lines in the map does not matter.
  using Bridge =
      std::tuple<Duration, std::string, std::string, IslandId, IslandId, std::size_t, std::size_t>;
  std::vector<Bridge> bridges;
  for (std::size_t a = 0; a < regions.size(); ++a)
    for (std::size_t b = a + 1; b < regions.size(); ++b)
      for (const IslandId i : regions[a])
        for (const IslandId j : regions[b])
          bridges.emplace_back(round_trip(routes, i, j),
                               std::min(map.islands[i].name, map.islands[j].name),
                               std::max(map.islands[i].name, map.islands[j].name), i, j, a, b);
  std::sort(bridges.begin(), bridges.end());

  Schedule schedule{"regional", {round_of(regions, n)}};
  std::vector<std::vector<bool>> bridged(regions.size(), std::vector<bool>(regions.size(), false));
  do {
    std::vector<bool> busy(n, false);
    Groups groups;
    for (const auto& [latency, first, second, i, j, a, b] : bridges) {
      if (busy[i] || busy[j] || bridged[a][b]) continue;
      busy[i] = busy[j] = true;
      bridged[a][b] = true;
      groups.push_back({i, j});
    }
    schedule.rounds.push_back(round_of(groups, n));
  } while (!connects_all(schedule, n));
  return schedule;
}

// "3x4" into {3, 4}; empty when it is not a list of sides.
std::vector<int> sides_of(std::string_view text) {
  std::vector<int> sides;
  while (!text.empty()) {
    int side = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), side);
    if (error != std::errc{} || side < 2) return {};
    sides.push_back(side);
    text.remove_prefix(std::size_t(end - text.data()));
    if (text.empty()) break;
    if (text.front() != 'x' || text.size() == 1) return {};
    text.remove_prefix(1);
  }
  return sides;
}

// Round k groups the islands that differ only in digit k of their place in the line.
Result<Schedule> grid(std::optional<std::string_view> sides_given, const Map& map,
                      const Routes& routes) {
  const std::string_view sides_text = sides_given.value_or("");
  const int n = map.island_count();
  std::vector<int> sides;
  if (!sides_given) {
    for (int side = 2; side * side <= n; ++side)
      if (n % side == 0) sides = {side, n / side};
    if (sides.empty())
      return failure(fmt::format(
          "a grid is not defined for {} islands, which is no product of two sides; use pairs, "
          "all-to-all or a schedule file",
          n));
  } else {
    sides = sides_of(sides_text);
    std::int64_t product = sides.empty() ? 0 : 1;
    for (const int side : sides) product = std::min<std::int64_t>(product * side, 1 << 30);
    if (product != n)
      return failure(
          fmt::format("'grid:{}' does not have {} islands; give sides of at least 2 whose "
                      "product is {}, as grid:3x4 has for 12",
                      shown(sides_text), n, n));
  }
  const std::vector<IslandId> line = line_of_islands(map, routes);
  Schedule schedule{fmt::format("grid:{}", fmt::join(sides, "x")), {}};
  // The last digit first: neighbours on the line.
  int stride = 1;
  for (std::size_t digit = sides.size(); digit-- > 0;) {
    const int side = sides[digit];
    Groups groups;
    for (int start = 0; start < n; ++start) {
      if (start / stride % side != 0) continue;
      groups.emplace_back();
      for (int step = 0; step < side; ++step) groups.back().push_back(line[start + step * stride]);
    }
    schedule.rounds.push_back(round_of(groups, n));
    stride *= side;
  }
  return schedule;
}

}  // namespace

const std::vector<ScheduleName>& schedule_names() {
  static const std::vector<ScheduleName> names = {
      {"triangles", "threes of neighbours, then threes across; for multiples of three"},
      {"pairs", "neighbours along a line, alternating"},
      {"all-to-all", "everybody with everybody, every round"},
      {"regional", "regions, then bridges between them; needs regions in the map"},
      {"grid", "rows, then columns of a grid (grid:3x4, grid:2x2x2, …)"},
  };
  return names;
}

std::vector<IslandId> line_of_islands(const Map& map, const Routes& routes) {
  // Ties go by name, so that the order of lines in the map does not matter.
  const int n = map.island_count();
  const auto name = [&](IslandId island) -> const std::string& { return map.islands[island].name; };
  // Start at an end: the island with the longest round trip to any other.
  IslandId start = 0;
  Duration longest{-1};
  for (IslandId i = 0; i < n; ++i)
    for (IslandId j = 0; j < n; ++j) {
      const Duration trip = round_trip(routes, i, j);
      if (trip > longest || (trip == longest && name(i) < name(start))) {
        longest = trip;
        start = i;
      }
    }
  std::vector<IslandId> line{start};
  std::vector<bool> taken(n, false);
  taken[start] = true;
  std::map<std::string, int> left;
  for (const Island& island : map.islands) ++left[island.region];
  --left[map.islands[start].region];
  while (int(line.size()) < n) {
    const std::string& region = map.islands[line.back()].region;
    IslandId nearest = -1;
    for (IslandId i = 0; i < n; ++i) {
      if (taken[i] || (left[region] > 0 && map.islands[i].region != region)) continue;
      const auto rank = [&](IslandId island) {
        return std::pair(round_trip(routes, line.back(), island), name(island));
      };
      if (nearest < 0 || rank(i) < rank(nearest)) nearest = i;
    }
    line.push_back(nearest);
    taken[nearest] = true;
    --left[map.islands[nearest].region];
  }
  return line;
}

Result<Schedule> named_schedule(std::string_view name, const Map& map, const Routes& routes) {
  if (name == "triangles") return triangles(map, routes);
  if (name == "pairs") return pairs(map, routes);
  if (name == "all-to-all") return all_to_all(map);
  if (name == "regional") return regional(map, routes);
  if (name == "grid") return grid(std::nullopt, map, routes);
  if (name.starts_with("grid:")) return grid(name.substr(5), map, routes);
  std::vector<std::string> known;
  for (const ScheduleName& schedule : schedule_names()) known.emplace_back(schedule.name);
  return failure(fmt::format(
      "no schedule is called '{}'; {}", shown(name),
      did_you_mean(name, known,
                   fmt::format("known: {}, or a schedule file (.toml)", fmt::join(known, ", ")))));
}

}  // namespace cotillion
