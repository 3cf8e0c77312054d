#include "report/timeline.hpp"

#include <algorithm>

#include "plan/certificate.hpp"
#include "plan/named_schedule.hpp"
#include "report/svg_test.hpp"
#include "report/timeline_memory.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using testing::expect_sound;
using testing::fixture_of;
using testing::kHostileNames;
using testing::MapFixture;
using testing::nine_cities;
using testing::random_map;
using testing::random_schedule;

Plan plan_of(const MapFixture& fixture, const std::string& name) {
  auto schedule = named_schedule(name, fixture.map, fixture.routes);
  EXPECT_TRUE(schedule.has_value());
  return make_plan(fixture.network, *schedule);
}

double peak(const std::vector<HeldMemory>& held) {
  double most = 0;
  for (const HeldMemory& point : held) most = std::max(most, point.bytes);
  return most;
}

// The peak of the drawn curve is the left side of the paper's memory constraint, at most a whole
// payload.
void expect_peaks_as_certified(const NetworkModel& network, const Plan& plan) {
  for (const PlannedRound& round : plan.rounds)
    for (const PlannedClique& clique : round.cliques)
      for (const IslandId island : clique.islands) {
        const double needed =
            std::min(edge_memory_needed(network, clique, island), double(network.payload().count));
        EXPECT_NEAR(peak(memory_held(arrivals_at(network, clique, island))), needed,
                    1e-6 * double(network.payload().count));
      }
}

TEST(MemoryHeld, PeaksAreThoseOfThePlan) {
  for (const std::int64_t memory : {0LL, 100'000'000LL, 32'000'000'000LL}) {
    const auto fixture = nine_cities({memory});
    for (const char* name : {"triangles", "pairs", "all-to-all", "regional"})
      expect_peaks_as_certified(fixture->network, plan_of(*fixture, name));
  }
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto fixture = fixture_of(random_map(12, seed));
    expect_peaks_as_certified(fixture->network,
                              make_plan(fixture->network, random_schedule(12, 3, seed)));
  }
}

StreamArrival arrival(double first_ms, double last_ms, double bytes) {
  StreamArrival made;
  made.first = RealDuration::from_ps(first_ms * 1e9);
  made.last = RealDuration::from_ps(last_ms * 1e9);
  made.payload = bytes;
  return made;
}

TEST(MemoryHeld, GrowsStaysAndDrains) {
  const auto held = memory_held({arrival(0, 100, 1000), arrival(30, 130, 1000)});
  ASSERT_EQ(held.size(), 4u);
  EXPECT_DOUBLE_EQ(held[0].bytes, 0);
  EXPECT_DOUBLE_EQ(held[1].bytes, 300);
  EXPECT_DOUBLE_EQ(held[2].bytes, 300);
  EXPECT_DOUBLE_EQ(held[3].bytes, 0);
  EXPECT_DOUBLE_EQ(held[2].at.ms(), 100);
}

TEST(MemoryHeld, AFasterStreamThatOvertakesIsFollowed) {
  // The second starts 50 ms later at twice the rate: they meet at 100 ms.
  const auto held = memory_held({arrival(0, 200, 1000), arrival(50, 150, 1000)});
  const auto at_100 =
      std::find_if(held.begin(), held.end(), [](HeldMemory h) { return h.at.ms() == 100; });
  ASSERT_NE(at_100, held.end());
  EXPECT_NEAR(at_100->bytes, 0, 1e-9);
  EXPECT_DOUBLE_EQ(peak(held), 250);
}

TEST(MemoryHeld, OneStreamNeedsNone) {
  EXPECT_TRUE(memory_held({}).empty());
  EXPECT_TRUE(memory_held({arrival(0, 1, 1)}).empty());
}

TEST(Timeline, NineCitiesInAllSchedulesAreSound) {
  for (const std::int64_t memory : {0LL, 32'000'000'000LL}) {
    const auto fixture = nine_cities({memory});
    for (const char* name : {"triangles", "pairs", "all-to-all", "regional"}) {
      const Plan plan = plan_of(*fixture, name);
      for (std::size_t k = 0; k < plan.rounds.size(); ++k) {
        const std::string svg = timeline_svg(fixture->network, plan, k);
        expect_sound(svg);
        EXPECT_EQ(svg, timeline_svg(fixture->network, plan, k));
        for (const Island& island : fixture->map.islands)
          EXPECT_NE(svg.find(">" + island.name + "</text>"), std::string::npos);
      }
    }
  }
}

TEST(Timeline, AnInfeasibleCliqueSaysSo) {
  const auto fixture = nine_cities({0});
  EXPECT_NE(
      timeline_svg(fixture->network, plan_of(*fixture, "all-to-all"), 0).find("cannot be done"),
      std::string::npos);
}

TEST(Timeline, WithoutAggregationNothingIsHeld) {
  const auto fixture = fixture_of(example_map("nine-cities"), {Technology{true, false}, false});
  const std::string svg = timeline_svg(fixture->network, plan_of(*fixture, "triangles"), 0);
  expect_sound(svg);
  EXPECT_NE(svg.find("Nothing is summed at edges."), std::string::npos);
  EXPECT_EQ(svg.find("≤"), std::string::npos);
}

TEST(Timeline, OfManyIslandsTheLongestCliqueIsDrawn) {
  Map map = random_map(40, 2);
  map.islands[3].name = kHostileNames[0];
  const auto fixture = fixture_of(map);
  const std::string svg = timeline_svg(fixture->network, plan_of(*fixture, "all-to-all"), 0);
  expect_sound(svg);
  EXPECT_NE(svg.find("Of 40 islands, 8 of the clique"), std::string::npos);
  const Plan plan = make_plan(fixture->network, random_schedule(40, 2, 9));
  expect_sound(timeline_svg(fixture->network, plan, 1));
}

}  // namespace
}  // namespace cotillion
