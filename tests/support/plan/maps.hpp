// Maps with their routes and what plans know of their network, and random schedules.
#pragma once

#include <memory>

#include "plan/plan.hpp"
#include "tests/support/topology/maps.hpp"
#include "topology/routes.hpp"

namespace cotillion::testing {

// A map with its routes and network, which point into each other.
struct MapFixture {
  Map map;
  Routes routes;
  NetworkModel network;

  MapFixture(Map given, NetworkModelSettings settings)
      : map(std::move(given)), routes(map), network(map, routes, settings) {}
};

[[nodiscard]] std::unique_ptr<MapFixture> fixture_of(Map map, NetworkModelSettings settings = {});

// The paper's map with this memory at every edge.
[[nodiscard]] std::unique_ptr<MapFixture> nine_cities(Bytes memory,
                                                      NetworkModelSettings settings = {});

// A random schedule of the given period: random partitions.
[[nodiscard]] Schedule random_schedule(int islands, int period, std::uint64_t seed);

}  // namespace cotillion::testing
