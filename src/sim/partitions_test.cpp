#include "sim/partitions.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "job/outcome_file.hpp"
#include "sim/in_flight.hpp"
#include "sim/simulation.hpp"
#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

using testing::nine_city_plan;

constexpr Bytes kSmallPayload{4'000'000};
constexpr Bytes kAmpleMemory{32'000'000'000};

std::string in_partitions(const PlanFile& plan, SimulationSettings settings) {
  settings.one_partition = false;
  const auto outcome = simulate(plan, settings);
  EXPECT_TRUE(outcome.has_value());
  return to_json(outcome_file(plan, *outcome, {})).dump();
}

std::string together(const PlanFile& plan, SimulationSettings settings) {
  settings.one_partition = true;
  const auto outcome = simulate(plan, settings);
  EXPECT_TRUE(outcome.has_value());
  return to_json(outcome_file(plan, *outcome, {})).dump();
}

// Small maps, written in place.
Partitions partitions_of(const std::string& links, const std::string& more = "") {
  const PlanFile plan = testing::plan_file(
      testing::map_of("payload = \"1MB\"\ndefaults = { access = \"10Gbps\", rate = \"10Gbps\" }\n"
                      "islands = [{ name = \"A\" }, { name = \"B\" }]\n"
                      "routers = [{ name = \"hub\" }]\nlinks = [" +
                      links + "]\n" + more),
      "all-to-all");
  return Partitions(plan.map, plan.ingress);
}

TEST(Partitions, EveryCityIsOneAndTheShortestLinkSaysHowLongItIsAlone) {
  const PlanFile plan = nine_city_plan("pairs", kAmpleMemory, kSmallPayload);
  const Partitions partitions(plan.map, plan.ingress);
  EXPECT_EQ(partitions.count(), 9);
  Duration shortest{INT64_MAX};
  for (const Link& link : plan.map.links)
    shortest = std::min({shortest, link.latency[0], link.latency[1]});
  EXPECT_EQ(partitions.lookahead(), shortest);
  for (IslandId island = 1; island < 9; ++island)
    EXPECT_NE(partitions.of_place(island), partitions.of_place(IslandId(island - 1)));
}

TEST(Partitions, PlacesNextDoorShareOne) {
  const Partitions partitions = partitions_of(
      "{ ends = [\"A\", \"hub\"], latency = \"1us\" }, { ends = [\"B\", \"hub\"], latency = "
      "\"2ms\" }");
  EXPECT_EQ(partitions.count(), 2);
  EXPECT_EQ(partitions.of_place(0), partitions.of_place(2));
  EXPECT_EQ(partitions.lookahead(), Duration{2'000'000'000});
}

TEST(Partitions, AnIslandSharesOneWithItsEdge) {
  const Partitions partitions = partitions_of(
      "{ ends = [\"A\", \"hub\"], latency = \"1ms\" }, { ends = [\"B\", \"hub\"], latency = "
      "\"2ms\" }",
      "aggregators = [{ at = \"hub\", serves = [\"A\"] }]\n");
  EXPECT_EQ(partitions.count(), 2);
  EXPECT_EQ(partitions.of_place(0), partitions.of_place(2));
  EXPECT_NE(partitions.of_place(1), partitions.of_place(2));
}

TEST(Partitions, GiveTheSameBytesAsAllTogether) {
  for (const char* schedule : {"triangles", "pairs", "regional", "all-to-all"})
    for (const Bytes memory : {Bytes{0}, Bytes{1'000'000}, kAmpleMemory}) {
      const PlanFile plan = nine_city_plan(schedule, memory, kSmallPayload);
      if (!plan.plan.feasible) continue;
      SimulationSettings settings;
      settings.rounds = 3;
      EXPECT_EQ(in_partitions(plan, settings), together(plan, settings)) << schedule;
      settings.islands.job_settings.exchange = Exchange::kStreamed;
      settings.islands.job_settings.fragments = 8;
      settings.islands.job_settings.memory = Bytes{0};  // edges overflow
      EXPECT_EQ(in_partitions(plan, settings), together(plan, settings)) << schedule;
    }
}

TEST(Partitions, GiveTheSameBytesWhenIslandsAreInTrouble) {
  const PlanFile plan = nine_city_plan("triangles", {0}, kSmallPayload);
  auto faults = read_faults(
      "[[dead]]\nisland = \"TYO\"\nfrom = \"10ms\"\nuntil = \"180ms\"\n"
      "[[slow]]\nisland = \"LON\"\nlate = \"3ms\"\nfrom = \"20ms\"\nuntil = \"300ms\"\n"
      "[[clock]]\nisland = \"NYC\"\nahead = \"5ms\"\ndrift_ppm = 10\n"
      "[[restart]]\nisland = \"AMS\"\nfrom = \"70ms\"\n",
      "faults.toml", plan);
  ASSERT_TRUE(faults.has_value());
  SimulationSettings settings;
  settings.rounds = 4;
  settings.faults = *faults;
  const std::string outcome = in_partitions(plan, settings);
  EXPECT_EQ(outcome, together(plan, settings));
  EXPECT_NE(outcome.find("\"absences\":[{"), outcome.npos);
}

TEST(Partitions, GiveTheSameBytesOnRandomMaps) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const int islands = 3 + int(seed % 6);
    Map map = testing::with_memory(testing::random_map(islands, seed), kAmpleMemory);
    map.payload = {1'000'000};
    const auto fixture = testing::fixture_of(std::move(map));
    const PlanFile plan =
        testing::plan_file(*fixture, testing::random_schedule(islands, 2, seed), PlanSettings{});
    if (!plan.plan.feasible) continue;
    SimulationSettings settings;
    settings.rounds = 3;
    EXPECT_EQ(in_partitions(plan, settings), together(plan, settings)) << seed;
  }
}

TEST(InFlightQueue, IsFirstInFirstOutOverManyBlocks) {
  InFlightBlocks blocks;
  InFlightQueue queue(blocks), other(blocks);
  std::int64_t in = 0, out = 0;
  for (const int more : {1, 3, 700, 0, 254, 255, 256}) {
    for (int i = 0; i < more; ++i) {
      queue.push().arrival = {in++};
      other.push().arrival = {-1};
    }
    for (std::int64_t ahead = 0; ahead < 12; ++ahead) {
      const InFlight* found = queue.after(std::size_t(ahead));
      ASSERT_EQ(found != nullptr, out + ahead < in);
      EXPECT_TRUE(found == nullptr || found->arrival.ps == out + ahead);
    }
    for (int i = 0; i < more; ++i, other.pop(), queue.pop())
      ASSERT_EQ(queue.front().arrival.ps, out++);
    EXPECT_TRUE(queue.empty() && other.empty());
  }
}

}  // namespace
}  // namespace cotillion
