#include "search/moves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/every_round.hpp"
#include "search/pair_prices.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::fixture_of;
using testing::random_map;
using testing::random_schedule;

Neighbourhood neighbourhood_of(const testing::MapFixture& fixture) {
  const Constraints none;
  const Rules rules(fixture.network, none);
  return Neighbourhood(PairPrices(fixture.network, rules, 8), fixture.map.island_count());
}

TEST(Moves, PutTheSameIslandsIntoOtherCliques) {
  std::map<std::pair<std::size_t, std::size_t>, int> kinds;  // groups gone, cliques fresh
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const int n = 2 + int(seed % 14);
    const auto fixture = fixture_of(random_map(n, seed));
    CliqueCache cache(fixture->network, 8);
    const Neighbourhood neighbourhood = neighbourhood_of(*fixture);
    Random random(seed);
    const RoundState round = state_of(random_schedule(n, 1, seed).rounds[0], cache);
    Move move;
    for (int step = 0; step < 200; ++step) {
      const int around = int(random.between(-1, round.groups.count() - 1));
      if (!draw_move(round, neighbourhood, around, fixture->network, random, move)) continue;
      if (around >= 0) {
        ASSERT_EQ(std::count(move.gone.begin(), move.gone.end(), around), 1) << "seed " << seed;
      }
      const std::set<int> gone(move.gone.begin(), move.gone.end());
      ASSERT_EQ(gone.size(), move.gone.size()) << "seed " << seed;
      std::vector<IslandId> before, after;
      for (const int group : move.gone) {
        const auto members = round.groups.members(group);
        before.insert(before.end(), members.begin(), members.end());
      }
      for (const auto& clique : move.fresh) {
        ASSERT_FALSE(clique.empty()) << "seed " << seed;
        ASSERT_TRUE(std::is_sorted(clique.begin(), clique.end())) << "seed " << seed;
        after.insert(after.end(), clique.begin(), clique.end());
      }
      std::sort(before.begin(), before.end());
      std::sort(after.begin(), after.end());
      ASSERT_EQ(before, after) << "seed " << seed << ", step " << step;
      ++kinds[{move.gone.size(), move.fresh.size()}];
    }
  }
  const auto drawn = [&](std::size_t gone, std::size_t fresh) { return kinds[{gone, fresh}]; };
  EXPECT_GT(drawn(1, 2), 100);  // split
  EXPECT_GT(drawn(2, 1), 100);  // merge
  EXPECT_GT(drawn(2, 2), 100);  // move and swap
  EXPECT_EQ(kinds.size(), 3u);
}

TEST(Moves, ReachEveryPartition) {
  const int n = 5;
  const auto fixture = fixture_of(random_map(n, 1));
  CliqueCache cache(fixture->network, 8);
  const Neighbourhood neighbourhood = neighbourhood_of(*fixture);
  Random random(7);
  RoundState round = state_of(completed({}, n), cache), next;
  std::set<std::vector<std::vector<IslandId>>> seen;
  Move move;
  for (int step = 0; step < 20'000; ++step) {
    std::vector<std::vector<IslandId>> partition;
    for (const Clique& clique : round_of(round).cliques) partition.push_back(clique.islands);
    seen.insert(partition);
    if (!draw_move(round, neighbourhood, -1, fixture->network, random, move)) continue;
    ASSERT_TRUE(replace(round, move.gone, move.fresh, 1e18, cache, next));
    std::swap(round, next);
  }
  EXPECT_EQ(seen.size(), every_round(n).size());
}

TEST(Moves, PartnersAreAnyoneElseAndTheCheapMoreOften) {
  const auto fixture = fixture_of(random_map(30, 4));
  const Neighbourhood neighbourhood = neighbourhood_of(*fixture);
  Random random(3);
  const Constraints none;
  const Rules rules(fixture->network, none);
  const PairPrices pairs(fixture->network, rules, 8);
  const auto price = [&](IslandId other) { return pairs.price(0, other); };
  std::vector<IslandId> by_price;
  for (IslandId i = 1; i < 30; ++i) by_price.push_back(i);
  std::sort(by_price.begin(), by_price.end(),
            [&](IslandId a, IslandId b) { return price(a) < price(b); });
  std::map<IslandId, int> drawn;
  for (int k = 0; k < 20'000; ++k) ++drawn[neighbourhood.draw(0, random)];
  EXPECT_EQ(drawn.size(), 29u);
  EXPECT_EQ(drawn.count(0), 0u);
  EXPECT_GT(drawn[by_price[0]], 4 * drawn[by_price[28]]);
}

TEST(Moves, OneIslandHasNone) {
  const auto fixture = fixture_of(random_map(1, 1));
  CliqueCache cache(fixture->network, 8);
  const Neighbourhood neighbourhood = neighbourhood_of(*fixture);
  Random random(1);
  Move move;
  const RoundState round = state_of(completed({}, 1), cache);
  EXPECT_FALSE(draw_move(round, neighbourhood, -1, fixture->network, random, move));
}

}  // namespace
}  // namespace cotillion
