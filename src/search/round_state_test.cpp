#include "search/round_state.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/infinity.hpp"
#include "base/random.hpp"
#include "plan/plan.hpp"
#include "search/moves.hpp"
#include "search/pair_prices.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::fixture_of;
using testing::random_map;
using testing::random_schedule;

constexpr Technology kTechnologies[] = {{true, true}, {true, false}, {false, true}, {false, false}};

// Lopsided latencies, thin links, and edges with no memory, a little, much, or missing.
Map uneven_map(int islands, std::uint64_t seed) {
  Map map = random_map(islands, seed);
  Random random(seed ^ 0x756e6576656e);
  for (Link& link : map.links)
    for (int way = 0; way < 2; ++way) {
      if (random.between(0, 2) == 0) link.latency[way].ps += random.between(0, 30'000) * 1'000'000;
      if (random.between(0, 2) == 0) link.rate[way] = {1e9 * double(random.between(2, 60))};
    }
  const Bytes memories[] = {{0}, {3'000'000}, {80'000'000}, {32'000'000'000}};
  const Bytes common = memories[random.between(0, 3)];
  const bool equal = random.between(0, 1) == 0;
  for (Aggregator& aggregator : map.aggregators)
    aggregator.spec.memory = equal ? common : memories[random.between(0, 3)];
  if (random.between(0, 3) == 0) map.aggregators.plain().erase(map.aggregators.begin());
  return map;
}

// A map with a cache and its settings, all from a seed.
struct Setting {
  std::unique_ptr<testing::MapFixture> fixture;
  CliqueCache cache;
  int n;
  explicit Setting(std::uint64_t seed)
      : fixture(fixture_of(uneven_map(2 + int(seed % 9), seed),
                           {kTechnologies[seed % 4], seed % 7 == 6})),
        cache(fixture->network, PlanSettings{}.fragments),
        n(fixture->map.island_count()) {}
  [[nodiscard]] Neighbourhood neighbourhood() const {
    const Constraints none;
    const Rules rules(fixture->network, none);
    return Neighbourhood(PairPrices(fixture->network, rules, PlanSettings{}.fragments), n);
  }
  [[nodiscard]] Round round(std::uint64_t seed) const {
    return random_schedule(n, 1, seed).rounds[0];
  }
};

void expect_same(const RoundState& state, const RoundState& fresh, const std::string& where) {
  ASSERT_EQ(state.streams, fresh.streams) << where;
  ASSERT_EQ(state.price, fresh.price) << where;
  ASSERT_EQ(state.delay, fresh.delay) << where;
  ASSERT_EQ(state.groups.count(), fresh.groups.count()) << where;
  for (int c = 0; c < state.groups.count(); ++c) {
    const auto members = state.groups.members(c);
    const int other = fresh.groups.group_of(members[0]);
    const auto expected = fresh.groups.members(other);
    ASSERT_TRUE(std::equal(members.begin(), members.end(), expected.begin(), expected.end()))
        << where;
    ASSERT_EQ(state.cliques[c]->islands, std::vector<IslandId>(members.begin(), members.end()));
    ASSERT_EQ(state.costs[c].price, fresh.costs[other].price) << where;
    ASSERT_EQ(state.costs[c].delay, fresh.costs[other].delay) << where;
    ASSERT_EQ(state.paces[c], fresh.paces[other]) << where;
  }
}

TEST(RoundState, PricesAreThoseOfThePlan) {
  int infeasible = 0, throttled = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Setting setting(seed);
    const Round round = setting.round(seed);
    const RoundState state = state_of(round, setting.cache);
    const Plan plan = make_plan(setting.fixture->network, {"", {round}});
    for (std::size_t c = 0; c < round.cliques.size(); ++c) {
      const PlannedClique& planned = plan.rounds[0].cliques[c];
      ASSERT_EQ(std::isfinite(state.costs[c].price), planned.feasible) << "seed " << seed;
      if (!planned.feasible) continue;
      ASSERT_NEAR(state.costs[c].price, planned.price.ps, 1e-9 * planned.price.ps + 1e-3)
          << "seed " << seed << ", clique " << c;
      throttled += planned.binding.kind == Binding::Kind::kMemory ? 1 : 0;
    }
    infeasible += plan.feasible ? 0 : 1;
    if (!plan.feasible) continue;
    ASSERT_NEAR(state.price, plan.round.ps, 1e-9 * plan.round.ps + 1e-3) << "seed " << seed;
    ASSERT_NEAR(state.delay, plan.streamed_delay.ps, 1e-9 * plan.streamed_delay.ps + 1e-3)
        << "seed " << seed;
    ASSERT_EQ(round_of(state), round) << "seed " << seed;
    for (const LaneUse& use : plan.rounds[0].lanes)
      ASSERT_EQ(state.streams[use.lane], use.streams) << "seed " << seed;
  }
  EXPECT_GT(infeasible, 10);
  EXPECT_GT(throttled, 10);
}

TEST(RoundState, ReplacingCliquesEqualsStartingAfresh) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    Setting setting(seed);
    const Neighbourhood neighbourhood = setting.neighbourhood();
    Random random(seed);
    RoundState state = state_of(setting.round(seed), setting.cache), next;
    Move move;
    for (int step = 0; step < 60; ++step) {
      const std::string where = "seed " + std::to_string(seed) + ", step " + std::to_string(step);
      if (!draw_move(state, neighbourhood, -1, setting.fixture->network, random, move)) continue;
      ASSERT_TRUE(replace(state, move.gone, move.fresh, kInfinity, setting.cache, next)) << where;
      CliqueCache other(setting.fixture->network, PlanSettings{}.fragments);
      ASSERT_NO_FATAL_FAILURE(expect_same(next, state_of(round_of(next), other), where));
      std::swap(state, next);
    }
  }
}

TEST(RoundState, ManyCliquesAtOnceCanBeReplaced) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Setting setting(seed);
    const RoundState state = state_of(setting.round(seed), setting.cache);
    const Round whole = setting.round(seed + 1'000);
    std::vector<int> gone;
    for (int c = 0; c < state.groups.count(); ++c) gone.push_back(c);
    if (seed % 2 == 1) std::reverse(gone.begin(), gone.end());
    std::vector<std::vector<IslandId>> fresh;
    for (const Clique& clique : whole.cliques) fresh.push_back(clique.islands);
    RoundState next;
    ASSERT_TRUE(replace(state, gone, fresh, kInfinity, setting.cache, next)) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(
        expect_same(next, state_of(whole, setting.cache), "seed " + std::to_string(seed)));
  }
}

TEST(RoundState, ReplacingIsRefusedExactlyWhenThePriceIsTooHigh) {
  int refused = 0, taken = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    Setting setting(seed);
    const Neighbourhood neighbourhood = setting.neighbourhood();
    Random random(seed);
    RoundState state = state_of(setting.round(seed), setting.cache), next, limited;
    Move move;
    for (int step = 0; step < 30; ++step) {
      if (!draw_move(state, neighbourhood, -1, setting.fixture->network, random, move)) continue;
      ASSERT_TRUE(replace(state, move.gone, move.fresh, kInfinity, setting.cache, next));
      // Just at the price, just below it, and anywhere.
      const double price = next.price;
      for (const double most : {price, price * (1 - 1e-9), 2 * random.unit() * price, 6e11}) {
        const bool expected = price <= most;
        const bool done = replace(state, move.gone, move.fresh, most, setting.cache, limited);
        ASSERT_EQ(done, expected) << "seed " << seed << ", step " << step << ": " << price
                                  << " ps, at most " << most;
        (done ? taken : refused) += 1;
      }
      std::swap(state, next);
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(taken, 500);
}

TEST(CliqueCache, AnswersDoNotDependOnWhatIsInIt) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Setting setting(seed);
    CliqueCache& cache = setting.cache;
    const Round round = setting.round(seed);
    const RoundState empty = state_of(round, cache);
    const double price = empty.price, delay = empty.delay;
    for (std::uint64_t k = 0; k < 20; ++k) (void)state_of(setting.round(seed * 100 + k), cache);
    const RoundState filled = state_of(round, cache);
    ASSERT_EQ(filled.price, price) << "seed " << seed;
    ASSERT_EQ(filled.delay, delay) << "seed " << seed;
    ASSERT_EQ(filled.cliques, empty.cliques) << "a clique is found again, not worked out again";
    cache.forget();
    const RoundState again = state_of(round, cache);
    ASSERT_EQ(again.price, price) << "seed " << seed;
    ASSERT_EQ(again.delay, delay) << "seed " << seed;
  }
}

TEST(CliqueCache, HoldsThousandsOfCliquesApart) {
  const auto fixture = fixture_of(random_map(14, 3));
  CliqueCache cache(fixture->network, 8);
  std::vector<KnownClique*> known;
  for (int pass = 0; pass < 2; ++pass)
    for (unsigned set = 1; set < 1u << 14; ++set) {
      std::vector<IslandId> islands;
      for (IslandId i = 0; i < 14; ++i)
        if ((set >> i & 1) != 0) islands.push_back(i);
      KnownClique& clique = cache.find(islands);
      ASSERT_EQ(clique.islands, islands);
      if (pass == 0)
        known.push_back(&clique);
      else
        ASSERT_EQ(known[set - 1], &clique);
    }
  EXPECT_FALSE(cache.full());
}

}  // namespace
}  // namespace cotillion
