#include "tests/support/plan/maps.hpp"

#include "base/random.hpp"

namespace cotillion::testing {

std::unique_ptr<MapFixture> fixture_of(Map map, NetworkModelSettings settings) {
  return std::make_unique<MapFixture>(std::move(map), settings);
}

std::unique_ptr<MapFixture> nine_cities(Bytes memory, NetworkModelSettings settings) {
  return fixture_of(with_memory(example_map("nine-cities"), memory), settings);
}

Schedule random_schedule(int islands, int period, std::uint64_t seed) {
  Random random(seed);
  Schedule schedule{"random", {}};
  for (int k = 0; k < period; ++k) {
    std::vector<Clique> cliques(std::size_t(random.between(1, islands)));
    for (IslandId i = 0; i < islands; ++i)
      cliques[std::size_t(random.between(0, std::int64_t(cliques.size()) - 1))].islands.push_back(
          i);
    schedule.rounds.push_back(completed(std::move(cliques), islands));
  }
  return schedule;
}

}  // namespace cotillion::testing
