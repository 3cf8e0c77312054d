// Bounds of relaxed plans hold whoever rests: no schedule, planned with the same relaxations, is
// below them, on the map itself or where links are never full.
#include "search/relaxed_bound.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

PlanSettings settings_of(const char* relax, Objective objective) {
  PlanSettings settings;
  settings.relax = *relaxations_named(relax);
  settings.objective = objective;
  settings.fragments = 64;
  return settings;
}

RealDuration bound_of(const NetworkModel& network, const PlanSettings& settings) {
  return relaxed_bound(network, settings, {}, {}).value;
}

// Each island rests in a round with this chance; the others meet in twos and threes.
Schedule resting(int islands, int period, double rest, Random& random) {
  Schedule schedule{"resting", {}};
  for (int k = 0; k < period; ++k) {
    std::vector<Clique> cliques;
    const int size = int(random.between(2, 3));
    for (const IslandId island : all_ids<IslandId>(islands)) {
      if (random.between(0, 999) < std::int64_t(rest * 1000)) continue;
      if (cliques.empty() || cliques.back().size() == size) cliques.push_back({});
      cliques.back().islands.push_back(island);
    }
    schedule.rounds.push_back(completed(std::move(cliques), islands));
  }
  return schedule;
}

TEST(RelaxedBound, HoldsForSchedulesInWhichIslandsRest) {
  constexpr int kIslands = 6;
  int settled = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto fixture =
        testing::fixture_of(without_full_links(testing::random_map(kIslands, seed)));
    for (const char* relax : {"lengths", "overlap", "lengths,overlap,routes"})
      for (const Objective objective : kObjectives) {
        const PlanSettings settings = settings_of(relax, objective);
        const RealDuration bound = bound_of(fixture->network, settings);
        EXPECT_GT(bound.ps, 0);
        Random random(seed);
        for (int trial = 0; trial < 12; ++trial) {
          const Schedule schedule =
              resting(kIslands, int(random.between(1, 8)), double(trial % 4) / 5, random);
          const Plan plan = make_plan(fixture->network, schedule, settings);
          if (!plan.feasible || !std::isfinite(plan.staleness().ps)) continue;
          ++settled;
          EXPECT_GE(plan.staleness().ps, bound.ps * (1 - 1e-9))
              << fmt::format("{}, {}, seed {}, trial {}", relax, to_name(objective), seed, trial);
        }
      }
  }
  EXPECT_GT(settled, 100);
}

// Bursts, then rests: pairs that meet in two rounds and rest in six. Rounds follow each other much
// faster than a payload passes, which a bound that assumes that nobody rests does not allow.
TEST(RelaxedBound, HoldsForIslandsThatTakeTurns) {
  const auto fixture = testing::fixture_of(without_full_links(testing::random_map(8, 5)));
  Schedule schedule{"turns", {}};
  for (const int step : {1, 2, 4})
    for (int first = 0; first < 8; ++first)
      if ((first & step) == 0)
        schedule.rounds.push_back(completed({{{IslandId(first), IslandId(first + step)}, {}}}, 8));
  for (const Objective objective : {Objective::kPaperStreamed, Objective::kSquaredStreamed}) {
    const PlanSettings settings = settings_of("overlap", objective);
    const Plan plan = make_plan(fixture->network, schedule, settings);
    ASSERT_TRUE(plan.feasible && std::isfinite(plan.staleness().ps));
    EXPECT_GE(plan.staleness(), bound_of(fixture->network, settings));
    Constraints nobody;
    nobody.may_rest = std::vector<IslandId>();
    EXPECT_GE(relaxed_bound(fixture->network, settings, nobody, {}).value,
              bound_of(fixture->network, settings));
  }
}

TEST(RelaxedBound, IsThePapersOnNineCities) {
  const auto nine = testing::nine_cities({32'000'000'000});
  EXPECT_NEAR(bound_of(nine->network, settings_of("all", Objective::kPaperStreamed)).ms(), 316.2,
              1e-6);
  EXPECT_NEAR(bound_of(nine->network, settings_of("all", Objective::kPaper)).ms(), 716.2, 1e-6);
}

}  // namespace
}  // namespace cotillion
