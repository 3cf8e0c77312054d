// Maps for tests: the examples as they are shipped, and small ones written in place.
#pragma once

#include <memory>
#include <string>

#include "plan/plan.hpp"
#include "topology/map.hpp"
#include "topology/routes.hpp"

namespace cotillion::testing {

// A map with its routes and network, which point into each other.
struct Floor {
  Map map;
  Routes routes;
  NetworkModel network;

  Floor(Map given, NetworkModelSettings settings)
      : map(std::move(given)), routes(map), network(map, routes, settings) {}
};

// Fails the program when the text is no sound map: tests write their maps correctly.
[[nodiscard]] Map map_of(const std::string& toml);
[[nodiscard]] Map example_map(const std::string& name);  // "nine-cities"
[[nodiscard]] std::string example_text(const std::string& path);

// Sets the memory of every edge.
[[nodiscard]] Map with_memory(Map map, Bytes memory);

[[nodiscard]] std::unique_ptr<Floor> floor_of(Map map, NetworkModelSettings settings = {});

// The paper's map with this memory at every edge.
[[nodiscard]] std::unique_ptr<Floor> nine_cities(Bytes memory, NetworkModelSettings settings = {});

// A random connected map of n islands, all with links of random latency.
[[nodiscard]] Map random_map(int islands, std::uint64_t seed);

// A random schedule of the given period: random partitions.
[[nodiscard]] Schedule random_schedule(int islands, int period, std::uint64_t seed);

}  // namespace cotillion::testing
