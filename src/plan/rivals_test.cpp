// Rivals against cases worked by hand: two to four islands, numbers one can check with a pencil.
#include "plan/rivals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "plan/policies.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::fixture_of;

constexpr NetworkModelSettings kUnicast{{false, false}, false};

// 1 GB at 8 Gbps takes one second: serialisation in seconds is the number of payloads.
const char* kPair = R"(
  payload = "1GB"
  defaults = { access = "8Gbps", rate = "800Gbps" }
  islands = [{ name = "A" }, { name = "B" }]
  links = [{ ends = ["A", "B"], latency = ["30ms", "50ms"] }]
)";
const char* kTriangle = R"(
  payload = "900MB"
  defaults = { access = "8Gbps", rate = "800Gbps" }
  islands = [{ name = "A" }, { name = "B" }, { name = "C" }]
  links = [{ ends = ["A", "B"], latency = "10ms" }, { ends = ["B", "C"], latency = "20ms" },
           { ends = ["A", "C"], latency = "25ms" }]
)";
// Four islands round a square of unequal sides; the diagonals go through a neighbour.
const char* kSquare = R"(
  payload = "400MB"
  defaults = { access = "8Gbps", rate = "800Gbps" }
  islands = [{ name = "A" }, { name = "B" }, { name = "C" }, { name = "D" }]
  links = [{ ends = ["A", "B"], latency = "10ms" }, { ends = ["B", "C"], latency = "20ms" },
           { ends = ["C", "D"], latency = "30ms" }, { ends = ["D", "A"], latency = "40ms" }]
)";

std::unique_ptr<testing::MapFixture> unicast(const char* text) {
  return fixture_of(testing::map_of(text), kUnicast);
}

TEST(Flows, ShareTheLanesOfTheirPathsEqually) {
  const auto fixture = unicast(kSquare);
  // A→C (by way of B) and A→B leave A together; B→C carries only the former.
  const auto shares = share_flows(fixture->network, {{0, 2}, {0, 1}, {3, 2}});
  EXPECT_EQ(shares[0].rate.gbps(), 4);
  EXPECT_EQ(shares[1].rate.gbps(), 4);
  EXPECT_EQ(lane_name(fixture->map, shares[1].lane), "A→net");
  EXPECT_EQ(shares[2].rate.gbps(), 4);  // C's access link takes two streams in
}

TEST(Ring, TwoIslandsSwapHalvesTwice) {
  // Two steps of half a payload each way: 1 s; the longest chain goes there and back: 80 ms.
  const auto fixture = unicast(kPair);
  EXPECT_NEAR(price_ring(fixture->network, {0, 1}).time.ms(), 1080, 1e-9);
}

TEST(Ring, ThreeIslandsMakeFourStepsOfAThird) {
  // 4 × 300 MB at 1 GB/s are 1.2 s. Four consecutive hops of A→B→C→A (10, 20, 25 ms): all
  // twice but the cheapest two neighbours, 110 − 30 = 80 ms.
  const auto fixture = unicast(kTriangle);
  EXPECT_NEAR(price_ring(fixture->network, {0, 1, 2}).time.ms(), 1280, 1e-9);
}

TEST(Ring, TheBestOrderOfASquareGoesRoundIt) {
  // Round the square: 6 × 100 MB = 600 ms, hops 10+20+30+40 twice less 10+20: 170 ms.
  const auto fixture = unicast(kSquare);
  const RingOrder best = best_ring(fixture->network);
  EXPECT_TRUE(best.exact);
  EXPECT_NEAR(price_ring(fixture->network, best.order).time.ms(), 770, 1e-9);
}

TEST(Ring, BestOrderAgreesWithTryingThemAll) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Map map = testing::random_map(7, seed);
    for (Link& link : map.links) link.rate[0] = link.rate[1] = {3e10};  // so that flows collide
    const auto fixture = fixture_of(map, kUnicast);
    std::vector<IslandId> order(7);
    std::iota(order.begin(), order.end(), IslandId(0));
    double least = 1e300;
    do least = std::min(least, price_ring(fixture->network, order).time.ps);
    while (std::next_permutation(order.begin() + 1, order.end()));
    const RingOrder best = best_ring(fixture->network);
    ASSERT_TRUE(best.exact);
    EXPECT_EQ(price_ring(fixture->network, best.order).time.ps, least) << "seed " << seed;
  }
}

TEST(Ring, AboveTwelveIslandsTheOrderIsCalledHeuristic) {
  const auto fixture = fixture_of(testing::random_map(13, 3), kUnicast);
  const RingOrder ring = best_ring(fixture->network);
  EXPECT_FALSE(ring.exact);
  EXPECT_EQ(ring.order.size(), 13u);
}

// A→C→B→D→A on a line A–B–C–D: A→C and B→D share B→C, C→B and D→A share C→B. The long way round
// costs 100 ms a flight, and everybody has the whole rate.
TEST(Ring, FlowsGoAroundFullLanesWhereThatPays) {
  MixingMemory memory;
  const auto fixture = unicast(R"(
    payload = "400MB"
    defaults = { access = "8Gbps", rate = "8Gbps" }
    islands = [{ name = "A" }, { name = "B" }, { name = "C" }, { name = "D" }]
    links = [{ ends = ["A", "B"], latency = "10ms" }, { ends = ["B", "C"], latency = "10ms" },
             { ends = ["C", "D"], latency = "10ms" }, { ends = ["D", "A"], latency = "100ms" }]
  )");
  const std::vector<IslandId> order{0, 2, 1, 3};
  EXPECT_NEAR(ring(fixture->network, order, memory).time.ms(), 1200 + 130, 1e-9);
  const auto around = rerouted_rings(fixture->network, order, memory);
  ASSERT_EQ(around.size(), 1u);
  // Hops of 110, 10, 20 and 100 ms, twice but for B's two.
  EXPECT_NEAR(around[0].time.ms(), 600 + 480 - 30, 1e-9);
  EXPECT_EQ(around[0].limit.rate.gbps(), 8);
  // In the order of the line nothing is shared.
  EXPECT_TRUE(rerouted_rings(fixture->network, {0, 1, 2, 3}, memory).empty());
}

TEST(Butterfly, TwoPhasesEachAsLongAsTheSlowestFlow) {
  MixingMemory memory;
  // Each island sends a third to two others at 4 Gbps: 600 ms, and 25 ms to fly; twice.
  const auto fixture = unicast(kTriangle);
  const RivalExchange exchange = butterfly(fixture->network, memory);
  EXPECT_NEAR(exchange.time.ms(), 2 * 625, 1e-9);
  EXPECT_NEAR(exchange.payloads_out, 4.0 / 3, 1e-12);
  EXPECT_EQ(exchange.mixing.area, 1);
}

TEST(Streamed, FragmentsFollowOneAnotherThroughAButterfly) {
  MixingMemory memory;
  // Two swap halves twice: 1 s passes in a cycle. One of four fragments takes 125 ms and 50 to fly,
  // twice; in one piece everything must have arrived before it is copied again.
  const auto pair = unicast(kPair);
  const StreamedExchange four = streamed_butterfly(pair->network, 4, memory);
  EXPECT_NEAR(four.cycle.time.ms(), 1000, 1e-9);
  EXPECT_NEAR(four.delay.ms(), 350, 1e-9);
  EXPECT_NEAR(four.cycle.payloads_out, 1, 1e-12);
  EXPECT_EQ(four.cycle.mixing.area, 1);
  const StreamedExchange whole = streamed_butterfly(pair->network, 1, memory);
  EXPECT_NEAR(whole.cycle.time.ms(), 1100, 1e-9);
  EXPECT_NEAR(whole.delay.ms(), 1100, 1e-9);
  // Thirds to two others at 4 Gbps: 600 ms, twice. A fragment: 75 ms and 25 to fly, twice.
  const StreamedExchange triangle = streamed_butterfly(unicast(kTriangle)->network, 8, memory);
  EXPECT_NEAR(triangle.cycle.time.ms(), 1200, 1e-9);
  EXPECT_NEAR(triangle.delay.ms(), 200, 1e-9);
}

// The flow that takes longest to pass need not be the one that arrives last.
TEST(Streamed, ACycleIsAsLongAsTheBusiestFlowTakesToPass) {
  MixingMemory memory;
  const auto fixture = unicast(R"(
    payload = "400MB"
    defaults = { access = "8Gbps", rate = "800Gbps" }
    islands = [{ name = "A" }, { name = "B" }]
    links = [{ ends = ["A", "B"], latency = ["10ms", "900ms"], rate = ["4Gbps", "800Gbps"] }]
  )");
  // 200 MB each way: 400 ms to pass from A, 10 to fly; 200 ms from B, 900 to fly.
  const StreamedExchange streamed = streamed_butterfly(fixture->network, 100, memory);
  EXPECT_NEAR(butterfly(fixture->network, memory).time.ms(), 2 * 1100, 1e-9);
  EXPECT_NEAR(streamed.cycle.serialisation.ms(), 2 * 400, 1e-9);
  EXPECT_NEAR(streamed.delay.ms(), 2 * 902, 1e-9);
  EXPECT_NEAR(streamed.cycle.time.ms(), 2 * 902, 1e-9);  // merged before it is copied again
}

TEST(Streamed, FragmentsFollowOneAnotherRoundARing) {
  MixingMemory memory;
  // 1 s passes; the longest chain flies 80 ms; a fourth of the payload takes 250 ms of it.
  const auto pair = unicast(kPair);
  const StreamedExchange streamed = streamed_ring(ring(pair->network, {0, 1}, memory), 4);
  EXPECT_NEAR(streamed.cycle.time.ms(), 1000, 1e-9);
  EXPECT_NEAR(streamed.delay.ms(), 330, 1e-9);
}

TEST(OnePeer, FourIslandsAverageExactlyInTwoRounds) {
  MixingMemory memory;
  const auto fixture = unicast(kSquare);
  const RivalExchange exchange = one_peer_exponential(fixture->network, {0, 1, 2, 3}, memory);
  // One state out, one in: 400 ms. Jumps of two fly 50 ms at most (B→D by way of A).
  EXPECT_NEAR(exchange.time.ms(), 450, 1e-9);
  EXPECT_EQ(exchange.mixing.settles_after, 2);
  // e: 1, then half the islands' states are 1/2 and 1/2: 2/3, then settled.
  EXPECT_NEAR(exchange.mixing.area, 1 + 2.0 / 3, 1e-12);
}

TEST(OnePeer, TwoIslandsSwapAndAverage) {
  MixingMemory memory;
  const auto fixture = unicast(kPair);
  const RivalExchange exchange = one_peer_exponential(fixture->network, {0, 1}, memory);
  EXPECT_NEAR(exchange.time.ms(), 1050, 1e-9);
  EXPECT_EQ(exchange.mixing.area, 1);
}

TEST(RandomPairs, TwoIslandsAlwaysMeet) {
  MixingMemory memory;
  const auto fixture = unicast(kPair);
  const RivalExchange exchange = random_pairs(fixture->network, 5, 4, memory);
  EXPECT_NEAR(exchange.time.ms(), 1050, 1e-9);
  EXPECT_EQ(exchange.mixing.area, 1);
  EXPECT_EQ(exchange.payloads_out, 1);
}

TEST(RandomPairs, DependOnTheSeedAlone) {
  const auto fixture = unicast(kSquare);
  MixingMemory one, other;
  EXPECT_EQ(random_pairs(fixture->network, 5, 9, one).mixing.area,
            random_pairs(fixture->network, 5, 9, other).mixing.area);
}

// Policies --------------------------------------------------------------------------------

const Policy& policy_named(const std::vector<Policy>& policies, const std::string& name) {
  const auto found = std::find_if(policies.begin(), policies.end(),
                                  [&](const Policy& policy) { return policy.name == name; });
  EXPECT_NE(found, policies.end()) << name;
  return *found;
}

std::vector<Policy> policies_on_nine_cities(Bytes edge_memory) {
  const auto fixture = testing::nine_cities(edge_memory);
  CompareSettings settings;
  settings.plan.step_time = Duration{169'000'000'000};
  MixingMemory memory;
  return score_policies(fixture->network, settings, memory);
}

TEST(Policies, RivalsOnNineCitiesAreNearTheFiguresOfTheDesignNote) {
  const auto policies = policies_on_nine_cities({32'000'000'000});
  struct Figure {
    const char* name;
    double round_ms, staleness_ms;
  };
  for (const Figure& figure : {Figure{"butterfly all-reduce", 944, 1415},
                               {"ring all-reduce", 1183, 1774},
                               {"one-peer exponential", 503, 1823},
                               {"random pairs", 516, 2345},
                               {"unicast grid", 912, 2053},
                               {"unicast all-to-all", 3316, 4974}}) {
    const Policy& policy = policy_named(policies, figure.name);
    EXPECT_NEAR(policy.exchange.ms(), figure.round_ms, 0.02 * figure.round_ms) << figure.name;
    EXPECT_NEAR(policy.objective(Objective::kPaper).ms(), figure.staleness_ms,
                0.02 * figure.staleness_ms)
        << figure.name;
  }
}

TEST(Policies, SynchronousSgdIdlesFourFifthsOfTheTimeAtAStepOf169Milliseconds) {
  const auto policies = policies_on_nine_cities({32'000'000'000});
  const Policy& policy = policy_named(policies, "synchronous SGD, multicast + edges");
  EXPECT_NEAR(policy.utilisation, 169 / (169 + 676.2), 1e-12);
  EXPECT_EQ(policy.objective(Objective::kPaper).ps, 0);
  EXPECT_TRUE(policy.blocking);
}

TEST(Policies, LocalStepsTradeUtilisationForStaleness) {
  const auto policies = policies_on_nine_cities({32'000'000'000});
  const Policy& local = policy_named(policies, "local SGD, H = 8");
  EXPECT_NEAR(local.objective(Objective::kPaper).ms(), 3.5 * 169, 1e-9);
  EXPECT_NEAR(local.utilisation, 8 * 169 / (8 * 169 + local.exchange.ms()), 1e-12);
}

TEST(Policies, WithoutMemoryTheAllToAllIsInfeasibleAndLast) {
  const auto policies = policies_on_nine_cities({0});
  EXPECT_FALSE(policy_named(policies, "all-to-all").feasible);
  EXPECT_FALSE(policies.back().feasible);
  EXPECT_EQ(policies.front().name, "Streaming DiLoCo");
}

TEST(Policies, TrafficIsCountedAtTheAccessLink) {
  const auto policies = policies_on_nine_cities({32'000'000'000});
  // One payload out and one in, every 676.2 ms.
  for (const double rate : policy_named(policies, "all-to-all").egress)
    EXPECT_NEAR(rate, 1e9 / 0.6762, 1e-3);
  for (const double rate : policy_named(policies, "unicast all-to-all").ingress)
    EXPECT_NEAR(rate, 8e9 / 3.3162, 1e-2);
}

TEST(Policies, StreamingDiLoCoAveragesEverybodyOnceInACycle) {
  const auto fixture = fixture_of(testing::map_of(kPair));
  CompareSettings settings;
  settings.plan.fragments = 4;
  settings.plan.step_time = Duration{100'000'000'000};
  MixingMemory memory;
  const auto policies = score_policies(fixture->network, settings, memory);
  const Policy& policy = policy_named(policies, "Streaming DiLoCo");
  EXPECT_NEAR(policy.cycle.ms(), 1000, 1e-9);
  EXPECT_NEAR(policy.objective(Objective::kPaper).ms(), 1500, 1e-9);
  EXPECT_NEAR(policy.objective(Objective::kPaperStreamed).ms(), 500 + 330, 1e-9);
  EXPECT_EQ(
      policy.note,
      "4 fragments over a ring, each copied every 1000.0 ms (10.00 steps) and merged 330.0 ms "
      "later");
  // One payload out in a second.
  EXPECT_NEAR(policy.egress[0], 1e9, 1e-3);
  settings.plan.whole_steps = true;
  settings.plan.step_time = Duration{300'000'000'000};
  const auto stepped = score_policies(fixture->network, settings, memory);
  EXPECT_NEAR(policy_named(stepped, "Streaming DiLoCo").cycle.ms(), 1200, 1e-9);
}

TEST(Policies, TheBestRivalIsTheFirstThatNeverBlocks) {
  const auto fixture = testing::nine_cities({32'000'000'000});
  for (const Objective objective : kObjectives) {
    CompareSettings settings;
    settings.plan.objective = objective;
    MixingMemory memory;
    const auto policies = score_policies(fixture->network, settings, memory);
    const auto first = std::find_if(policies.begin(), policies.end(), [](const Policy& policy) {
      return policy.kind == Policy::Kind::kRival && !policy.blocking;
    });
    const auto best = best_rival(fixture->network, settings);
    ASSERT_TRUE(best);
    EXPECT_EQ(best->name, first->name);
    EXPECT_EQ(best->objective(objective), first->objective(objective));
  }
}

TEST(Policies, RelaxationsMakeNoRivalWeaker) {
  const auto nine = testing::nine_cities({32'000'000'000});
  const auto six = fixture_of(testing::random_map(6, 4));
  for (const testing::MapFixture* fixture : {nine.get(), six.get()})
    for (const Objective objective : {Objective::kPaper, Objective::kSquaredStreamed}) {
      CompareSettings settings;
      settings.plan.objective = objective;
      MixingMemory memory;
      const auto plain = score_policies(fixture->network, settings, memory);
      for (const char* relax : {"lengths", "overlap", "routes", "all"}) {
        settings.plan.relax = *relaxations_named(relax);
        const auto relaxed = score_policies(fixture->network, settings, memory);
        for (const Policy& policy : relaxed) {
          if (policy.blocking) continue;
          EXPECT_LE(policy.objective(objective).ps,
                    policy_named(plain, policy.name).objective(objective).ps * (1 + 1e-12))
              << policy.name << ", " << relax;
        }
      }
    }
}

TEST(Policies, ARingThatOverlapsIsStreamingDiLoCosRing) {
  const auto fixture = fixture_of(testing::map_of(kPair));
  CompareSettings settings;
  settings.plan.fragments = 4;
  settings.plan.objective = Objective::kPaperStreamed;
  settings.plan.relax.overlap = true;
  MixingMemory memory;
  const auto policies = score_policies(fixture->network, settings, memory);
  EXPECT_NEAR(policy_named(policies, "ring all-reduce").objective(Objective::kPaperStreamed).ms(),
              500 + 330, 1e-9);
}

// 900 ms to pass, and 10, 20 or 25 ms to fly: whichever pair was drawn.
TEST(Policies, RandomPairsTakeAsLongAsTheyNeed) {
  const auto fixture = fixture_of(testing::map_of(kTriangle));
  CompareSettings settings;
  MixingMemory memory;
  const auto plain = score_policies(fixture->network, settings, memory);
  settings.plan.relax.lengths = true;
  const auto relaxed = score_policies(fixture->network, settings, memory);
  const Policy& before = policy_named(plain, "random pairs");
  const Policy& after = policy_named(relaxed, "random pairs");
  EXPECT_NEAR(before.cycle.ms(), 925, 1e-9);
  EXPECT_LT(after.cycle.ms(), 925 - 1);
  EXPECT_GT(after.cycle.ms(), 910 + 1);
  EXPECT_LT(after.objective(Objective::kPaper), before.objective(Objective::kPaper));
}

TEST(Policies, OneIslandHasNothingToExchange) {
  const auto fixture = fixture_of(testing::map_of(R"(
    payload = "1GB"
    islands = [{ name = "A", access = "20Gbps" }]
  )"));
  CompareSettings settings;
  settings.plan.step_time = Duration{1'000'000'000};
  MixingMemory memory;
  for (const Policy& policy : score_policies(fixture->network, settings, memory))
    EXPECT_EQ(policy.exchange.ps, 0) << policy.name;
}

}  // namespace
}  // namespace cotillion
