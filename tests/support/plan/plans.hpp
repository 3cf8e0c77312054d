// Plans for tests of those who play them, as they would be read from files.
#pragma once

#include "base/check.hpp"
#include "plan/file/plan_loader.hpp"
#include "plan/named_schedule.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion::testing {

[[nodiscard]] inline PlanFile plan_file(const MapFixture& fixture, const Schedule& schedule,
                                        const PlanSettings& settings = {}) {
  PlanFile file;
  file.plan = make_plan(fixture.network, schedule, settings);
  for (IslandId island = 0; island < fixture.map.island_count(); ++island)
    file.ingress.push_back(ingress_of(fixture.network, island));
  file.map = fixture.map;
  return file;
}

// A named schedule on a map.
[[nodiscard]] inline PlanFile plan_file(Map map, const std::string& schedule,
                                        const PlanSettings& settings = {}) {
  const auto fixture = fixture_of(std::move(map));
  const auto named = named_schedule(schedule, fixture->map, fixture->routes);
  COTILLION_CHECK(named.has_value());
  return plan_file(*fixture, *named, settings);
}

[[nodiscard]] inline PlanFile nine_city_plan(const std::string& schedule, Bytes memory,
                                             Bytes payload) {
  Map map = with_memory(example_map("nine-cities"), memory);
  map.payload = payload;
  return plan_file(std::move(map), schedule);
}

// Relaxed, streamed in 64 fragments, and a fiftieth of all rates and bytes: times are those of the
// nine cities. Chunks are the map's, unless others are given.
[[nodiscard]] inline PlanFile relaxed_nine_city_plan(const std::string& schedule,
                                                     const std::string& relax, Bytes memory,
                                                     Bytes chunk = {0}) {
  constexpr std::int64_t kScale = 50;
  Map map = with_memory(example_map("nine-cities"), memory / kScale);
  map.payload = map.payload / kScale;
  for (Link& link : map.links)
    for (BitsPerSecond& rate : link.rate) rate.value /= kScale;
  for (Island& island : map.islands) {
    island.up.value /= kScale;
    island.down.value /= kScale;
  }
  for (Aggregator& aggregator : map.aggregators)
    if (chunk.count > 0) aggregator.spec.chunk = aggregator.spec.slot = chunk;
  PlanSettings settings;
  settings.relax = *relaxations_named(relax);
  settings.objective = Objective::kPaperStreamed;
  settings.fragments = 64;
  return plan_file(std::move(map), schedule, settings);
}

}  // namespace cotillion::testing
