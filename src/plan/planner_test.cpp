// The paper's Section 5, to its last printed digit, and what it implies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "plan/certificate.hpp"
#include "plan/explain.hpp"
#include "plan/file/plan_file.hpp"
#include "plan/file/schedule_file.hpp"
#include "plan/named_schedule.hpp"
#include "plan/plan.hpp"
#include "plan/streams.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using testing::fixture_of;
using ::testing::HasSubstr;
using testing::with_memory;

constexpr Bytes kNone{0};
constexpr Bytes kV80{32'000'000'000};

struct Planned {
  std::unique_ptr<testing::MapFixture> fixture;
  Plan plan;
};

Planned plan_nine(const std::string& schedule, Bytes memory, NetworkModelSettings settings = {},
                  const PlanSettings& plan_settings = {}) {
  Planned planned{testing::nine_cities(memory, settings), {}};
  const auto named = named_schedule(schedule, planned.fixture->map, planned.fixture->routes);
  planned.plan = make_plan(planned.fixture->network, *named, plan_settings);
  return planned;
}

const PlannedClique& clique_with(const Planned& planned, const std::string& names, std::size_t k) {
  for (const PlannedClique& clique : planned.plan.rounds[k].cliques) {
    std::string joined;
    for (const IslandId island : clique.islands)
      joined += planned.fixture->map.islands[island].name;
    if (joined == names) return clique;
  }
  ADD_FAILURE() << "no clique " << names;
  return planned.plan.rounds[k].cliques[0];
}

struct Golden {
  const char* schedule;
  Bytes memory;
  double round_ms, area, staleness_ms, squared_ms;
};

class PaperNumbers : public ::testing::TestWithParam<Golden> {};

TEST_P(PaperNumbers, AreReproduced) {
  const Golden& golden = GetParam();
  const Plan plan = plan_nine(golden.schedule, golden.memory).plan;
  ASSERT_TRUE(plan.feasible);
  EXPECT_NEAR(plan.round.ms(), golden.round_ms, 1e-9);
  EXPECT_NEAR(plan.mixing.area, golden.area, 5e-5);
  EXPECT_NEAR(plan.staleness().ms(), golden.staleness_ms, 0.051);
  EXPECT_NEAR(plan.objective(Objective::kSquared).ms(), golden.squared_ms, 0.051);
}

INSTANTIATE_TEST_SUITE_P(NineCities, PaperNumbers,
                         ::testing::Values(Golden{"triangles", kNone, 564.7, 1.75, 1270.6, 988.2},
                                           Golden{"pairs", kNone, 449.4, 9.6245, 4550.0, 1423.1},
                                           Golden{"regional", kNone, 477.0, 3.5417, 1927.9, 1043.4},
                                           Golden{"all-to-all", kV80, 676.2, 1, 1014.3, 1014.3},
                                           Golden{"triangles", kV80, 514.2, 1.75, 1157.0, 899.9}));

TEST(Planner, AllToAllIsInfeasibleWithoutMemoryAndSaysWhy) {
  const Planned planned = plan_nine("all-to-all", kNone);
  EXPECT_FALSE(planned.plan.feasible);
  EXPECT_EQ(planned.plan.mixing.area, 1);
  const PlannedClique& clique = planned.plan.rounds[0].cliques[0];
  EXPECT_THAT(explain_price(planned.fixture->network, clique),
              HasSubstr("cannot meet without memory"));
}

TEST(Planner, TrianglesSendLondonNewYorkAndSingaporeAtTheOffsetsOfTheModel) {
  const Planned planned = plan_nine("triangles", kNone);
  const PlannedClique& clique = clique_with(planned, "SINNYCLON", 1);
  EXPECT_EQ(clique.streams[0].offset.ms(), 0);
  EXPECT_EQ(clique.streams[1].offset.ms(), 50.5);
  EXPECT_EQ(clique.streams[2].offset.ms(), 82);
  EXPECT_THAT(explain_price(planned.fixture->network, clique), HasSubstr("at LON"));
}

TEST(Planner, AllToAllIsHeldBackBySevenStreamsFromTokyoToHongKong) {
  const Planned planned = plan_nine("all-to-all", kV80);
  const Map& map = planned.fixture->map;
  const Binding& binding = planned.plan.rounds[0].cliques[0].binding;
  EXPECT_EQ(binding.kind, Binding::Kind::kLink);
  EXPECT_EQ(lane_name(map, binding.lane), "TYO→HKG");
  EXPECT_EQ(binding.lane_streams, 7);
  EXPECT_EQ(binding.lane_senders.size(), 7u);
  const Duration flight =
      planned.fixture->network.latency(binding.last_receiver, binding.last_sender);
  EXPECT_EQ(flight.ms(), 116.2);
}

TEST(Planner, NothingInTheWayIsThePhysicalLimit) {
  Map map = with_memory(example_map("nine-cities"), kV80);
  for (Link& link : map.links) link.rate[0] = link.rate[1] = {1e15};
  const auto fixture = fixture_of(map);
  const Plan plan =
      make_plan(fixture->network, *named_schedule("all-to-all", fixture->map, fixture->routes));
  EXPECT_NEAR(plan.round.ms(), 516.2, 1e-9);
  EXPECT_NEAR(plan.staleness().ms(), 774.3, 1e-6);
}

TEST(Planner, TechnologiesHelpEachOnItsOwn) {
  const auto round_with = [&](bool multicast, bool aggregation) {
    return plan_nine("all-to-all", kV80, {{multicast, aggregation}, false}).plan.round.ms();
  };
  const double both = round_with(true, true);
  EXPECT_LE(both, round_with(true, false));
  EXPECT_LE(both, round_with(false, true));
  EXPECT_LE(round_with(true, false), round_with(false, false));
  // Eight copies out of each island at 20 Gbps: 3.2 s, and the longest flight.
  EXPECT_NEAR(round_with(false, false), 3316.2, 1e-9);
}

TEST(Planner, WithoutAggregationNoMemoryIsNeeded) {
  const Plan plan = plan_nine("all-to-all", kNone, {{true, false}, false}).plan;
  EXPECT_TRUE(plan.feasible);
  for (const Stream& stream : plan.rounds[0].cliques[0].streams) EXPECT_EQ(stream.offset.ps, 0);
  EXPECT_TRUE(plan.rounds[0].edges.empty());
}

TEST(Planner, ShippingStateDoublesThePayloadThroughTheSameMemory) {
  const Planned planned = plan_nine("triangles", kV80, {{}, true});
  EXPECT_EQ(planned.fixture->network.payload().count, 2'000'000'000);
  EXPECT_EQ(planned.fixture->network.memory(0), 32e9);
  EXPECT_NEAR(planned.plan.round.ms(), 914.2, 1e-9);
}

TEST(Planner, FramingLengthensSerialisationByItsShareOfThePacket) {
  Map map = example_map("nine-cities");
  map.edge.framing = {256};
  const auto fixture = fixture_of(with_memory(map, kV80));
  const Plan plan =
      make_plan(fixture->network, *named_schedule("triangles", fixture->map, fixture->routes));
  const double packets = std::ceil(1e9 / 8192);
  EXPECT_NEAR(plan.round.ms(), 114.2 + (1e9 + packets * 256) * 400 / 1e9, 1e-6);
}

TEST(Planner, SlackAndWholeStepsLengthenRoundsButNotPrices) {
  PlanSettings settings;
  settings.slack = Duration{2'000'000'000};
  settings.step_time = Duration{169'000'000'000};
  EXPECT_NEAR(plan_nine("triangles", kNone, {}, settings).plan.rounds[1].start.ms(), 566.7, 1e-9);
  settings.whole_steps = true;
  const Plan plan = plan_nine("triangles", kNone, {}, settings).plan;
  EXPECT_NEAR(plan.rounds[0].length.ms(), 676, 1e-9);
  EXPECT_NEAR(plan.steps_per_round(), 4, 1e-12);
  EXPECT_NEAR(plan.round.ms(), 564.7, 1e-9);
}

TEST(Planner, AnEdgeElsewhereIsReachedFirstAndSumsOneStreamOnward) {
  // C's streams are summed at B, so C receives one stream over B–C whatever the clique's size.
  const char* text = R"(
    payload = "1GB"
    defaults = { access = "100Gbps", rate = "10Gbps" }
    edge = { memory = "10GB" }
    islands = [{ name = "A" }, { name = "B" }, { name = "C" }, { name = "D" }]
    links = [{ ends = ["A", "B"], latency = "10ms", rate = "100Gbps" },
             { ends = ["D", "B"], latency = "10ms", rate = "100Gbps" },
             { ends = ["B", "C"], latency = "5ms" }]
  )";
  const std::string moved = std::string(text) + R"(
    aggregators = [{ at = "B", serves = ["C"] }]
  )";
  const auto plain = fixture_of(testing::map_of(text)), at_b = fixture_of(testing::map_of(moved));
  const auto round = [](const testing::MapFixture& fixture) {
    return make_plan(fixture.network, *named_schedule("all-to-all", fixture.map, fixture.routes))
        .round.ms();
  };
  EXPECT_NEAR(round(*plain), 2400 + 20, 1e-9);  // three streams share B→C; A–D flies longest
  EXPECT_NEAR(round(*at_b), 800 + 20, 1e-9);    // one sum on B→C
}

TEST(Planner, AFullMeshOfUnequalAccessRatesRunsAtTheSlowest) {
  const auto fixture = fixture_of(testing::map_of(R"(
    payload = "1GB"
    defaults = { rate = "1Tbps" }
    edge = { memory = "10GB" }
    islands = [{ name = "A", access = "20Gbps" },
               { name = "B", access = { up = "10Gbps", down = "40Gbps" } },
               { name = "C", access = "30Gbps" }]
    links = [{ ends = ["A", "B"], latency = "1ms" }, { ends = ["B", "C"], latency = "1ms" },
             { ends = ["A", "C"], latency = "1ms" }]
  )"));
  const Plan plan =
      make_plan(fixture->network, *named_schedule("all-to-all", fixture->map, fixture->routes));
  EXPECT_NEAR(plan.round.ms(), 801, 1e-9);
  EXPECT_EQ(lane_name(fixture->map, plan.rounds[0].cliques[0].binding.lane), "B→net");
}

TEST(Planner, OneIslandPlansARoundOfNothing) {
  const auto fixture = fixture_of(testing::map_of(R"(
    payload = "1GB"
    islands = [{ name = "A", access = "20Gbps" }]
  )"));
  const Plan plan =
      make_plan(fixture->network, *named_schedule("all-to-all", fixture->map, fixture->routes));
  EXPECT_TRUE(plan.feasible);
  EXPECT_EQ(plan.round.ps, 0);
}

TEST(Planner, CliquesWiderThanTheMaskArePricedAndMarkedNotRunnable) {
  const auto fixture = fixture_of(testing::random_map(kCliqueMembersMax + 1, 7));
  const Plan plan =
      make_plan(fixture->network, *named_schedule("all-to-all", fixture->map, fixture->routes));
  EXPECT_TRUE(plan.feasible);
  EXPECT_FALSE(plan.runnable);
}

TEST(Planner, EveryPlanOfRandomMapsAndSchedulesPassesItsCertificate) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const int n = int(2 + seed % 11);
    Map map = testing::random_map(n, seed);
    // Some edges without memory, some with little: plans may be infeasible, never wrong.
    for (const AggregatorId a : map.aggregators.ids())
      map.aggregators[a].spec.memory = {
          std::int64_t((seed * std::uint64_t(a + 3)) % 5 * 10'000'000)};
    const Technology technology{seed % 2 == 0, seed % 3 != 0};
    const auto fixture = fixture_of(map, {technology, seed % 7 == 0});
    const Plan plan = make_plan(fixture->network, testing::random_schedule(n, 3, seed));
    const Certificate certificate = check_plan(fixture->network, plan);
    EXPECT_TRUE(certificate.broken.empty()) << "seed " << seed;
  }
}

TEST(Certificate, NoticesAnOffsetThatWasTamperedWith) {
  Planned planned = plan_nine("triangles", kNone);
  planned.plan.rounds[1].cliques[2].streams[1].offset = RealDuration::from_ps(0);
  EXPECT_FALSE(check_plan(planned.fixture->network, planned.plan).broken.empty());
}

TEST(Certificate, NoticesARateThatWasTamperedWith) {
  Planned planned = plan_nine("all-to-all", kV80);
  for (Stream& stream : planned.plan.rounds[0].cliques[0].streams) stream.rate = {2e9};
  EXPECT_FALSE(check_plan(planned.fixture->network, planned.plan).broken.empty());
}

TEST(PlanFile, BeginsWithWhatMadeItAndWritesInfinityAsNull) {
  const Planned planned = plan_nine("all-to-all", kNone);
  const Json json =
      to_json(planned.fixture->network, planned.plan, {"1.2.3", "abc", 5, {{"map", "h"}}});
  EXPECT_EQ(json.begin().key(), "version");
  EXPECT_EQ(json["seed"], 5);
  EXPECT_TRUE(json["round_ms"].is_null());
  EXPECT_TRUE(json["staleness_ms"].is_null());
  EXPECT_EQ(json["feasible"], false);
}

TEST(PlanFile, HoldsEveryStreamWithItsTreeAndLatencies) {
  const Planned planned = plan_nine("triangles", kNone);
  const Json json = to_json(planned.fixture->network, planned.plan, {});
  const Json& clique = json["rounds"][1]["cliques"][2];
  EXPECT_EQ(clique["islands"], (Json{"SIN", "NYC", "LON"}));
  EXPECT_EQ(clique["offset_ms"], (Json{0.0, 50.5, 82.0}));
  EXPECT_EQ(clique["price_ms"], 564.7);
  const Json& stream = clique["streams"][0];
  EXPECT_EQ(stream["receivers"][0]["latency_ms"], 114.2);
  // Every lane of the tree exists in the network that the plan carries.
  for (const Json& lane : stream["tree"]) EXPECT_LT(lane, json["network"]["lanes"].size());
}

TEST(PlanFile, SameInputSameBytes) {
  const auto text = [] {
    const Planned planned = plan_nine("regional", kV80);
    return to_json(planned.fixture->network, planned.plan, {}).dump();
  };
  EXPECT_EQ(text(), text());
}

}  // namespace
}  // namespace cotillion
