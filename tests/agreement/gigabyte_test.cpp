// The paper's own size: nine cities, 1 GB in packets of 8 KiB. Planned = simulated.
#include "sim/simulation.hpp"
#include "tests/support/job/as_planned.hpp"
#include "tests/support/plan/plans.hpp"
#include "tests/support/search/searches.hpp"

namespace cotillion {
namespace {

constexpr Bytes kGigabyte{1'000'000'000};
constexpr Bytes kPlenty{32'000'000'000};

void expect_played_as_planned(const PlanFile& plan) {
  ASSERT_TRUE(plan.plan.feasible);
  SimulationSettings settings;
  settings.rounds = int(plan.plan.rounds.size());
  const auto outcome = simulate(plan, settings);
  ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  testing::expect_as_planned(plan, *outcome);
  EXPECT_TRUE(holds(*outcome));
}

TEST(Gigabyte, NamedSchedulesWithoutMemoryArePlayedAsPlanned) {
  for (const char* schedule : {"triangles", "pairs", "regional"})
    expect_played_as_planned(testing::nine_city_plan(schedule, {0}, kGigabyte));
}

TEST(Gigabyte, NamedSchedulesWithMemoryArePlayedAsPlanned) {
  for (const char* schedule : {"triangles", "pairs", "regional", "all-to-all"})
    expect_played_as_planned(testing::nine_city_plan(schedule, kPlenty, kGigabyte));
}

TEST(Gigabyte, TheBestScheduleOfTheSearchIsPlayedAsPlanned) {
  for (const Bytes memory : {Bytes{0}, kPlenty}) {
    Map map = testing::with_memory(testing::example_map("nine-cities"), memory);
    map.payload = kGigabyte;
    const auto fixture = testing::fixture_of(std::move(map));
    const SearchResult found = testing::alone(*fixture, {});
    expect_played_as_planned(testing::plan_file(*fixture, found.schedule));
  }
}

}  // namespace
}  // namespace cotillion
