#include "search/walker.hpp"

#include <gtest/gtest.h>

#include "plan/named_schedule.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using testing::fixture_of;
using testing::MapFixture;

struct Walked {
  Standing best;
  std::int64_t evaluated = 0;
};

Walked walk(const MapFixture& fixture, std::uint64_t seed, std::size_t held_most) {
  const Constraints constraints;
  const PlanSettings settings;
  const Rules rules(fixture.network, constraints);
  const Score score(fixture.network, settings);
  const PairPrices pairs(fixture.network, rules, settings.fragments);
  const Neighbourhood neighbourhood(pairs, fixture.network.map().island_count());
  CliqueCache cache(fixture.network, settings.fragments, held_most);
  Walker walker(rules, score, neighbourhood, cache);
  const auto start = named_schedule("grid", fixture.network.map(), fixture.network.routes());
  EXPECT_TRUE(walker.begin(*start));
  WalkSettings walking;
  walking.steps = 6000;
  Random random(seed);
  walker.walk(walking, start->rounds, random, {});
  return {walker.best(), walker.evaluated()};
}

TEST(Walker, GoesTheSameWayHoweverLittleItsCacheHolds) {
  const auto fixture = fixture_of(example_map("geant"));
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Walked roomy = walk(*fixture, seed, CliqueCache::kHeldMost);
    const Walked cramped = walk(*fixture, seed, 20'000);
    EXPECT_EQ(roomy.best.value, cramped.best.value) << "seed " << seed;
    EXPECT_EQ(roomy.best.schedule.rounds, cramped.best.schedule.rounds) << "seed " << seed;
    EXPECT_EQ(roomy.evaluated, cramped.evaluated) << "seed " << seed;
  }
}

TEST(Walker, StandsWhereThePlannerSaysItStands) {
  const auto fixture = fixture_of(example_map("nine-cities"));
  const Walked walked = walk(*fixture, 7, CliqueCache::kHeldMost);
  const Plan plan = make_plan(fixture->network, walked.best.schedule);
  EXPECT_NEAR(walked.best.value, plan.staleness().ps, 1e-3 * plan.staleness().ps);
  EXPECT_NEAR(walked.best.length, plan.round.ps, 1e-9 * plan.round.ps);
}

}  // namespace
}  // namespace cotillion
