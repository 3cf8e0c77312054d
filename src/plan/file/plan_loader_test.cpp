#include "plan/file/plan_loader.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "base/random.hpp"
#include "plan/file/plan_reader.hpp"
#include "plan/named_schedule.hpp"
#include "tests/support/base/seeds.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::fixture_of;
using testing::MapFixture;

constexpr Bytes kNoMemory{0}, kMemoryOfV80{32'000'000'000};

const Provenance kMadeBy{
    "1.2.3", "abc", 18'446'744'073'709'551'615u, {{"map", fingerprint("")}, {"a", "b"}}};

void expect_same(const Map& made, const Map& read) {
  EXPECT_EQ(read.name, made.name);
  EXPECT_EQ(read.payload, made.payload);
  EXPECT_EQ(read.edge, made.edge);
  const auto same_point = [](const auto& a, const auto& b) {
    return a.has_value() == b.has_value() &&
           (!a || (a->latitude == b->latitude && a->longitude == b->longitude));
  };
  ASSERT_EQ(read.islands.size(), made.islands.size());
  for (const IslandId i : made.islands.ids()) {
    const Island &a = made.islands[i], &b = read.islands[i];
    EXPECT_EQ(std::tie(a.name, a.label, a.region, a.up, a.down),
              std::tie(b.name, b.label, b.region, b.up, b.down));
    EXPECT_TRUE(same_point(a.coordinates, b.coordinates));
  }
  ASSERT_EQ(read.routers.size(), made.routers.size());
  for (std::size_t i = 0; i < made.routers.size(); ++i) {
    EXPECT_EQ(read.routers[i].name, made.routers[i].name);
    EXPECT_TRUE(same_point(made.routers[i].coordinates, read.routers[i].coordinates));
  }
  ASSERT_EQ(read.links.size(), made.links.size());
  for (std::size_t k = 0; k < made.links.size(); ++k)
    for (int d = 0; d < 2; ++d) {
      EXPECT_EQ(read.links[k].ends[d], made.links[k].ends[d]);
      EXPECT_EQ(read.links[k].latency[d], made.links[k].latency[d]);
      EXPECT_EQ(read.links[k].rate[d], made.links[k].rate[d]);
    }
  ASSERT_EQ(read.aggregators.size(), made.aggregators.size());
  for (const AggregatorId a : made.aggregators.ids()) {
    EXPECT_EQ(read.aggregators[a].place, made.aggregators[a].place);
    EXPECT_EQ(read.aggregators[a].spec, made.aggregators[a].spec);
    EXPECT_EQ(read.aggregators[a].serves, made.aggregators[a].serves);
  }
}

void expect_same(const Stream& made, const Stream& read) {
  EXPECT_EQ(std::tie(read.sender, read.offset, read.rate, read.payload, read.tree, read.copies),
            std::tie(made.sender, made.offset, made.rate, made.payload, made.tree, made.copies));
  ASSERT_EQ(read.receivers.size(), made.receivers.size());
  for (std::size_t r = 0; r < made.receivers.size(); ++r) {
    EXPECT_EQ(read.receivers[r].receiver, made.receivers[r].receiver);
    EXPECT_EQ(read.receivers[r].latency, made.receivers[r].latency);
  }
}

void expect_same(const std::vector<Wait>& made, const std::vector<Wait>& read) {
  ASSERT_EQ(read.size(), made.size());
  for (std::size_t i = 0; i < made.size(); ++i)
    EXPECT_EQ(std::tie(read[i].leader, read[i].waiter, read[i].receiver),
              std::tie(made[i].leader, made[i].waiter, made[i].receiver));
}

void expect_same(const PlannedClique& made, const PlannedClique& read) {
  EXPECT_EQ(std::tie(read.islands, read.weights, read.feasible, read.runnable, read.price,
                     read.rate, read.serialisation),
            std::tie(made.islands, made.weights, made.feasible, made.runnable, made.price,
                     made.rate, made.serialisation));
  const Binding &a = made.binding, &b = read.binding;
  EXPECT_EQ(std::tie(a.kind, a.lane, a.lane_streams, a.lane_senders, a.bound, a.last_sender,
                     a.last_receiver, a.cycle_excess),
            std::tie(b.kind, b.lane, b.lane_streams, b.lane_senders, b.bound, b.last_sender,
                     b.last_receiver, b.cycle_excess));
  expect_same(a.chain, b.chain);
  expect_same(a.cycle, b.cycle);
  ASSERT_EQ(read.streams.size(), made.streams.size());
  for (std::size_t j = 0; j < made.streams.size(); ++j)
    expect_same(made.streams[j], read.streams[j]);
}

void expect_same(const Plan& plan, const PlannedRound& made, const PlannedRound& read) {
  EXPECT_EQ(read.start, plan.feasible ? made.start : RealDuration());
  EXPECT_EQ(read.length, plan.feasible ? made.length : RealDuration());
  EXPECT_EQ(read.planned, made.planned);
  ASSERT_EQ(read.cliques.size(), made.cliques.size());
  for (std::size_t c = 0; c < made.cliques.size(); ++c)
    expect_same(made.cliques[c], read.cliques[c]);
  ASSERT_EQ(read.lanes.size(), made.lanes.size());
  for (std::size_t i = 0; i < made.lanes.size(); ++i) {
    const LaneUse &a = made.lanes[i], &b = read.lanes[i];
    EXPECT_EQ(std::tie(a.lane, a.streams, a.rate, a.bytes),
              std::tie(b.lane, b.streams, b.rate, b.bytes));
  }
  ASSERT_EQ(read.edges.size(), made.edges.size());
  for (std::size_t i = 0; i < made.edges.size(); ++i) {
    EXPECT_EQ(read.edges[i].aggregator, made.edges[i].aggregator);
    EXPECT_EQ(read.edges[i].memory_peak, made.edges[i].memory_peak);
  }
}

void expect_same(const Mixing& made, const Mixing& read) {
  EXPECT_EQ(
      std::tie(read.area, read.area_squared, read.approximate, read.settles_after, read.decay),
      std::tie(made.area, made.area_squared, made.approximate, made.settles_after, made.decay));
  ASSERT_EQ(read.phases.size(), made.phases.size());
  for (std::size_t p = 0; p < made.phases.size(); ++p) {
    const SurvivalCurve &a = made.phases[p].absolute, &b = read.phases[p].absolute;
    ASSERT_EQ(b.values.size(), std::min(a.values.size(), kCurveValuesMax));
    EXPECT_TRUE(std::equal(b.values.begin(), b.values.end(), a.values.begin()));
    EXPECT_TRUE(b.tail == a.tail || std::isnan(b.tail));
    EXPECT_EQ(std::isnan(b.tail), !made.settles_after || *made.settles_after >= 64);
  }
}

void expect_same(const Plan& made, const Plan& read) {
  EXPECT_EQ(read.schedule, made.schedule);
  EXPECT_EQ(read.settings.slack, made.settings.slack);
  EXPECT_EQ(read.settings.step_time, made.settings.step_time);
  EXPECT_EQ(read.settings.objective, made.settings.objective);
  EXPECT_EQ(read.settings.fragments, made.settings.fragments);
  EXPECT_EQ(read.network.technology, made.network.technology);
  EXPECT_EQ(read.network.ships_state, made.network.ships_state);
  EXPECT_EQ(std::tie(read.feasible, read.runnable, read.round, read.objectives,
                     read.constraints_checked, read.worst_excess),
            std::tie(made.feasible, made.runnable, made.round, made.objectives,
                     made.constraints_checked, made.worst_excess));
  EXPECT_EQ(read.streamed_delay, made.feasible ? made.streamed_delay : RealDuration());
  expect_same(made.mixing, read.mixing);
  ASSERT_EQ(read.rounds.size(), made.rounds.size());
  for (std::size_t k = 0; k < made.rounds.size(); ++k)
    expect_same(made, made.rounds[k], read.rounds[k]);
}

// Written, read, compared, and written again.
void expect_round_trip(const MapFixture& fixture, const Schedule& schedule,
                       const PlanSettings& settings = {}) {
  const Plan plan = make_plan(fixture.network, schedule, settings);
  const std::string text = to_json(fixture.network, plan, kMadeBy).dump(1);
  const auto file = read_plan(text, "plan.json");
  if (!file) {
    for (const Diagnostic& diagnostic : file.error()) ADD_FAILURE() << to_text(diagnostic);
    return;
  }
  expect_same(fixture.map, file->map);
  expect_same(plan, file->plan);
  for (IslandId i = 0; i < fixture.map.island_count(); ++i) {
    const Ingress made = ingress_of(fixture.network, i), &read = file->ingress[i];
    EXPECT_EQ(std::tie(read.edge, read.from, read.lanes, read.latency),
              std::tie(made.edge, made.from, made.lanes, made.latency));
  }
  EXPECT_EQ(schedule_of(file->plan).rounds, schedule.rounds);
  EXPECT_EQ(file->made_by.seed, kMadeBy.seed);
  const MapFixture again(file->map, file->plan.network);
  EXPECT_EQ(to_json(again.network, file->plan, file->made_by).dump(1), text);
}

Schedule schedule_named(const MapFixture& fixture, const char* name) {
  auto schedule = named_schedule(name, fixture.map, fixture.routes);
  EXPECT_TRUE(schedule) << name;
  return *schedule;
}

TEST(PlanLoader, NineCitiesComeBackAsTheyWere) {
  for (const Bytes memory : {kNoMemory, kMemoryOfV80})
    for (const char* name : {"triangles", "grid", "pairs", "regional", "all-to-all"})
      for (const bool ships_state : {false, true}) {
        SCOPED_TRACE(fmt::format("{} with {} bytes", name, memory.count));
        const auto fixture = testing::nine_cities(memory, {{}, ships_state});
        PlanSettings settings;
        settings.slack = RealDuration::from_ps(1e9 / 3);
        settings.step_time = Duration{169'000'000'000};
        expect_round_trip(*fixture, schedule_named(*fixture, name), settings);
      }
  // Everyone at once without memory cannot be done: that is a plan too.
  const auto fixture = testing::nine_cities(kNoMemory);
  EXPECT_FALSE(make_plan(fixture->network, schedule_named(*fixture, "all-to-all")).feasible);
}

TEST(PlanLoader, ARealNetworkComesBackAsItWas) {
  const auto fixture = fixture_of(testing::example_map("geant"));
  expect_round_trip(*fixture, schedule_named(*fixture, "all-to-all"));
  expect_round_trip(*fixture, schedule_named(*fixture, "pairs"));
}

// One edge at a router serves two islands, one stands beside another island, one island has none.
constexpr const char* kFarEdges = R"(
name     = "far edges"
payload  = "100000001B"
defaults = { access = "10Gbps", rate = "100Gbps" }
edge     = { memory = "1GB", chunk = "8KiB", slot = "16KiB", framing = "64B", resend = "1MB" }
islands  = [{ name = "N", region = "a", coordinates = [1.25, 2] }, { name = "E", edge = false },
            { name = "S", label = "Süd" }, { name = "W", access = { up = "7Gbps", down = "3bps" } }]
routers  = [{ name = "hub", coordinates = [0.1, 0.2] }, { name = "far" }]
links = [
  { ends = ["N", "hub"], latency = "4000000001ps" },
  { ends = ["E", "hub"], latency = "9ms" },
  { ends = ["S", "far"], latency = ["16ms", "15ms"] },
  { ends = ["far", "hub"], latency = "1ms", rate = "9007199254740991bps" },
  { ends = ["W", "hub"], latency = "25ms", rate = ["5Gbps", "40Gbps"] },
]
aggregators = [{ at = "hub", serves = ["N", "S"], memory = "10MB" }, { at = "N", serves = ["W"] }]
)";

TEST(PlanLoader, EdgesAwayFromTheirIslandsKeepTheirWayIn) {
  for (const bool multicast : {true, false})
    for (const bool aggregation : {true, false}) {
      const auto fixture = fixture_of(testing::map_of(kFarEdges), {{multicast, aggregation}, true});
      for (std::uint64_t seed = 1; seed < 20; ++seed)
        expect_round_trip(*fixture, testing::random_schedule(4, 3, seed));
    }
  const auto fixture = fixture_of(testing::map_of(kFarEdges));
  const Map& map = fixture->map;
  const Ingress into_south = ingress_of(fixture->network, 2);
  EXPECT_EQ(place_name(map, into_south.from), "hub");
  EXPECT_EQ(into_south.lanes, (std::vector<LaneId>{7, 5, lane_down(map, 2)}));
  EXPECT_EQ(into_south.latency, Duration{16'000'000'000});
  EXPECT_EQ(ingress_of(fixture->network, 1).lanes, std::vector<LaneId>{lane_down(map, 1)});
}

TEST(PlanLoader, WeightsAndSettingsComeBack) {
  const auto fixture = testing::nine_cities(kMemoryOfV80);
  const double third = 1.0 / 3, rest = 1 - third;
  const Schedule schedule{"weighted",
                          {completed({{{0, 2}, {rest, third, third, rest}}, {{1, 3, 4}, {}}}, 9)}};
  PlanSettings settings;
  settings.objective = Objective::kSquaredStreamed;
  settings.fragments = 3;
  expect_round_trip(*fixture, schedule, settings);
  const Json json =
      to_json(fixture->network, make_plan(fixture->network, schedule, settings), kMadeBy);
  const auto file = read_plan(json.dump(), "");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->made_by.version, "1.2.3");
  EXPECT_EQ(file->made_by.inputs, kMadeBy.inputs);
  EXPECT_EQ(file->plan.settings.fragments, 3);
}

// Edges elsewhere, shared or missing; odd rates, picoseconds and packets; some too many to run.
Map odd_map(int islands, std::uint64_t seed) {
  Map map = testing::random_map(islands, seed);
  Random random(seed + 1'000'000);
  map.payload = {random.between(1, 5'000'000'000)};
  map.edge = {{random.between(0, 3) * 77'000'003}, {4096}, {8191}, {random.between(0, 99)}, {1}};
  for (Link& link : map.links)
    for (int d = 0; d < 2; ++d) {
      link.latency[d] = {random.between(0, 1'000'000'000'000)};
      link.rate[d] = {double(random.between(1, std::int64_t{1} << random.between(30, 53)))};
    }
  for (Island& island : map.islands) island.up = {double(random.between(1, 100'000'000'000)) / 3};
  map.aggregators.clear();
  for (IslandId i = 0; i < islands; ++i) {
    if (random.between(0, 3) == 0) continue;
    EdgeSpec spec = map.edge;
    spec.memory = {random.between(0, 2) * 100'000'000};
    Aggregator edge{PlaceId(random.between(0, islands - 1)), spec, {i}};
    if (random.between(0, 2) == 0 && i + 1 < islands) edge.serves.push_back(++i);
    map.aggregators.push_back(edge);
  }
  return map;
}

TEST(PlanLoader, AnyPlanForAnyMapComesBack) {
  for (const std::uint64_t seed : testing::seeds_to_try(150)) {
    const int islands = seed % 50 == 0 ? 70 : 1 + int(seed % 12);
    const Technology technology{seed % 3 != 0, seed % 5 != 0};
    const auto fixture = fixture_of(odd_map(islands, seed), {technology, seed % 2 == 0});
    PlanSettings settings;
    settings.slack = RealDuration::from_ps(double(seed) * 1e6 / 7);
    settings.whole_steps = seed % 4 == 0;
    settings.step_time = Duration{std::int64_t(seed % 2) * 169'000'000'001};
    expect_round_trip(*fixture, testing::random_schedule(islands, 1 + int(seed % 4), seed),
                      settings);
    ASSERT_FALSE(HasFailure()) << fmt::format(
        "COTILLION_SEED={} build/release/plan_test --gtest_filter=PlanLoader.AnyPlan*", seed);
  }
}

}  // namespace
}  // namespace cotillion
