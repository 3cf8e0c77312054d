#include "tests/support/topology/maps.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/check.hpp"
#include "base/random.hpp"
#include "topology/map_file.hpp"

namespace cotillion::testing {

std::string example_text(const std::string& path) {
  std::ifstream file(std::string(COTILLION_SOURCE_DIR) + "/examples/" + path);
  COTILLION_CHECK(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Map map_of(const std::string& toml) {
  auto map = read_map(toml, "test.toml");
  if (!map)
    for (const Diagnostic& diagnostic : map.error())
      std::fprintf(stderr, "%s\n", to_text(diagnostic).c_str());
  COTILLION_CHECK(map.has_value());
  return std::move(*map);
}

Map example_map(const std::string& name) {
  return map_of(example_text(name + ".toml"));
}

Map with_memory(Map map, Bytes memory) {
  map.edge.memory = memory;
  for (Aggregator& aggregator : map.aggregators) aggregator.spec.memory = memory;
  return map;
}

Map random_map(int islands, std::uint64_t seed) {
  Random random(seed);
  Map map;
  map.name = fmt::format("random {}", seed);
  map.payload = {1'000'000'000};
  map.edge.memory = {200'000'000};
  for (IslandId i = 0; i < islands; ++i) {
    const BitsPerSecond access{1e9 * double(random.between(5, 40))};
    map.islands.push_back({fmt::format("I{:03}", i), "", "", {}, access, access});
    map.aggregators.push_back({i, map.edge, {i}});
  }
  const auto link = [&](PlaceId a, PlaceId b) {
    const Duration there{random.between(1, 80'000) * 1'000'000};
    map.links.push_back({{a, b}, {there, there}, {{1e11}, {1e11}}});
  };
  // A random tree, then three times as many links between random ends.
  std::vector<std::vector<bool>> joined(islands, std::vector<bool>(islands, false));
  for (PlaceId i = 1; i < islands; ++i) {
    const PlaceId other(random.between(0, i - 1));
    joined[i][other] = joined[other][i] = true;
    link(other, i);
  }
  for (int k = 0; k < 3 * islands && islands > 2; ++k) {
    const PlaceId a(random.between(0, islands - 1)), b(random.between(0, islands - 1));
    if (a == b || joined[a][b]) continue;
    joined[a][b] = joined[b][a] = true;
    link(a, b);
  }
  return map;
}

}  // namespace cotillion::testing
