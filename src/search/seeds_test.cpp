#include "search/seeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "search/pair_prices.hpp"
#include "search/round_state.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using testing::fixture_of;
using testing::random_map;
using testing::with_memory;

// Makes seeds for a map and checks what every seed promises.
std::vector<Seed> seeds_for(const testing::MapFixture& fixture, const Constraints& constraints = {},
                            int period_max = 8, std::uint64_t seed = 1) {
  const Rules rules(fixture.network, constraints);
  const PairPrices pairs(fixture.network, rules, 8);
  CliqueCache cache(fixture.network, 8);
  Random random(seed);
  const int n = fixture.map.island_count();
  std::vector<Seed> seeds = make_seeds(pairs, rules, period_max, cache, random);
  for (const Seed& made : seeds) {
    const std::string which = made.family + ", " + made.schedule.name + " on " + fixture.map.name;
    EXPECT_TRUE(rules.allows(made.schedule)) << which;
    EXPECT_GE(int(made.schedule.rounds.size()), 1) << which;
    EXPECT_LE(int(made.schedule.rounds.size()), period_max) << which;
    EXPECT_TRUE(connects_all(made.schedule, n)) << which;
    for (const Round& round : made.schedule.rounds) {
      std::vector<Clique> cliques = round.cliques;
      EXPECT_EQ(completed(std::move(cliques), n), round) << which;
      EXPECT_TRUE(std::isfinite(state_of(round, cache).price)) << which;
    }
  }
  return seeds;
}

std::set<std::string> names_in(const std::vector<Seed>& seeds, const std::string& family) {
  std::set<std::string> names;
  for (const Seed& seed : seeds)
    if (seed.family == family) names.insert(seed.schedule.name);
  return names;
}

TEST(Seeds, ObeyAndConnectOnMapsOfAllKinds) {
  const Bytes memories[] = {{0}, {20'000'000}, {32'000'000'000}};
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const int n = 5 + int(seed);
    const auto fixture = fixture_of(with_memory(random_map(n, seed), memories[seed % 3]));
    Constraints constraints;
    if (seed % 4 == 1) constraints.clique_max = 3;
    if (seed % 4 == 2) constraints.apart = {{0, 3}, {1, 2, 4}};
    if (seed % 4 == 3) constraints.together = {{0, 3}};
    if (seed % 5 == 4) constraints.may_rest = std::vector<IslandId>{0, 1};
    const int period_max = 2 + int(seed % 5);
    EXPECT_FALSE(seeds_for(*fixture, constraints, period_max, seed).empty()) << "seed " << seed;
  }
}

TEST(Seeds, GridsHaveAPlaceForEverybodyOrOneMoreOrOneLess) {
  const auto nine = fixture_of(example_map("nine-cities"));
  const auto seeds = seeds_for(*nine);
  EXPECT_TRUE(names_in(seeds, "grid").contains("grid:3x3"));
  EXPECT_TRUE(names_in(seeds, "grid with a gap").contains("grid:2x5"));
  EXPECT_TRUE(names_in(seeds, "grid with a gap").contains("grid:5x2"));
  EXPECT_TRUE(names_in(seeds, "grid with a rest").contains("grid:2x4"));
  EXPECT_TRUE(names_in(seeds, "grid with a rest").contains("grid:2x2x2"));
}

TEST(Seeds, GridsOfPrimesLeaveAGapOrARest) {
  for (const int n : {5, 7, 11, 13, 23}) {
    const auto fixture = fixture_of(random_map(n, 3));
    const auto seeds = seeds_for(*fixture);
    EXPECT_FALSE(names_in(seeds, "grid with a gap").empty()) << n;
    EXPECT_FALSE(names_in(seeds, "grid with a rest").empty()) << n;
    for (const std::string& name : names_in(seeds, "grid"))
      EXPECT_EQ(name, "grid") << "a prime has no other sides: " << name;
  }
}

TEST(Seeds, EveryFamilyOfTheModelIsSown) {
  const auto nine = fixture_of(example_map("nine-cities"));
  const auto seeds = seeds_for(*nine);
  for (const char* family : {"grid", "near-complete", "all-to-all every few rounds", "orthogonal",
                             "regional", "triangles", "pairs", "all-to-all"})
    EXPECT_FALSE(names_in(seeds, family).empty()) << family;
}

TEST(Seeds, SmallMapsHaveSome) {
  for (const int n : {1, 2, 3, 4}) {
    const auto fixture = fixture_of(random_map(n, 5));
    EXPECT_FALSE(seeds_for(*fixture).empty()) << n;
    const auto no_memory = fixture_of(with_memory(random_map(n, 5), {0}));
    EXPECT_FALSE(seeds_for(*no_memory).empty()) << n;
  }
}

TEST(Seeds, PinnedRoundsComeFirst) {
  const auto nine = fixture_of(example_map("nine-cities"));
  Constraints constraints;
  constraints.pinned = {completed({{{0, 8}, {}}, {{3, 4, 5}, {}}}, 9)};
  constraints.clique_max = 4;
  const auto seeds = seeds_for(*nine, constraints, 4);
  ASSERT_FALSE(seeds.empty());
  for (const Seed& seed : seeds)
    EXPECT_EQ(seed.schedule.rounds.front(), constraints.pinned[0]) << seed.schedule.name;
}

TEST(Seeds, TheSameDrawGivesTheSameSeeds) {
  const auto fixture = fixture_of(random_map(20, 9));
  const auto a = seeds_for(*fixture, {}, 8, 3), b = seeds_for(*fixture, {}, 8, 3),
             c = seeds_for(*fixture, {}, 8, 4);
  ASSERT_EQ(a.size(), b.size());
  const auto same = [](const Seed& x, const Seed& y) {
    return x.family == y.family && x.schedule.rounds == y.schedule.rounds;
  };
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end(), same));
  EXPECT_FALSE(std::equal(a.begin(), a.end(), c.begin(), c.end(), same));
}

TEST(Seeds, NothingIsSownWhereNothingCanMeet) {
  const auto fixture = fixture_of(random_map(6, 2));
  Constraints constraints;
  constraints.clique_max = 1;
  EXPECT_TRUE(seeds_for(*fixture, constraints).empty());
}

}  // namespace
}  // namespace cotillion
