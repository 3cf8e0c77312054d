// Decided ways: the figures that the nine cities allow, and every tree there is on small maps.
#include "plan/reroute.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.hpp"
#include "plan/decided_ways.hpp"
#include "plan/named_schedule.hpp"
#include "plan/plan.hpp"
#include "tests/support/base/sanitized.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::fixture_of;
using testing::with_memory;

constexpr Bytes kEdgeMemory{32'000'000'000};

Plan plan_with_routes(const NetworkModel& network, const std::string& schedule) {
  PlanSettings settings;
  settings.relax.routes = true;
  return make_plan(network, *named_schedule(schedule, network.map(), network.routes()), settings);
}

TEST(Reroute, AllToAllOfNineCitiesReachesTheBoundOfAnyWholeSchedule) {
  const auto nine = testing::nine_cities(kEdgeMemory);
  const Plan plan = plan_with_routes(nine->network, "all-to-all");
  EXPECT_NEAR(plan.round.ms(), 516.2, 1e-9);
  EXPECT_NEAR(plan.staleness().ms(), 774.3, 1e-9);
}

TEST(Reroute, IsNeverWorseThanTheShortestWays) {
  for (const Bytes memory : {Bytes{0}, Bytes{100'000'000}, kEdgeMemory}) {
    const auto nine = testing::nine_cities(memory);
    for (const char* name : {"triangles", "pairs", "regional", "all-to-all", "grid:3x3"}) {
      const auto schedule = named_schedule(name, nine->map, nine->routes);
      ASSERT_TRUE(schedule.has_value());
      const Plan before = make_plan(nine->network, *schedule);
      const Plan after = plan_with_routes(nine->network, name);
      EXPECT_LE(after.staleness().ps, before.staleness().ps) << name;
    }
  }
}

// Every tree from a member to the others, as sets of lanes.
std::vector<Way> every_way(const NetworkModel& network, const Clique& clique, int sender) {
  const Map& map = network.map();
  std::vector<std::vector<LaneId>> into(std::size_t(map.place_count()));
  for (int lane = 0; lane < 2 * int(map.links.size()); ++lane)
    into[std::size_t(lane_ends(map, LaneId(lane)))].push_back(LaneId(lane));
  std::set<std::vector<LaneId>> known;
  std::vector<Way> ways;
  std::vector<std::size_t> choice(into.size(), 0);  // 0: not entered
  for (;;) {
    PlaceTree tree(network, clique, sender);
    for (std::size_t place = 0; place < into.size(); ++place)
      if (choice[place] > 0) tree.enter(into[place][choice[place] - 1]);
    if (tree.reaches_all()) {
      Way way = tree.way();
      if (known.insert(way.route.tree).second) ways.push_back(std::move(way));
    }
    std::size_t place = 0;
    while (place < into.size() && choice[place] == into[place].size()) choice[place++] = 0;
    if (place == into.size()) return ways;
    ++choice[place];
  }
}

// The least price of one clique of everybody, whatever trees they take, with plenty of memory.
double least_of_all(const NetworkModel& network, const Clique& clique) {
  const Map& map = network.map();
  std::vector<std::vector<Way>> ways;
  for (int j = 0; j < clique.size(); ++j) ways.push_back(every_way(network, clique, j));
  std::vector<double> pace;
  for (int lane = 0; lane < map.lane_count(); ++lane)
    pace.push_back(ps_per_byte(lane_rate(map, LaneId(lane))));
  double best = std::numeric_limits<double>::infinity();
  std::vector<int> streams(pace.size(), 0);
  for (const IslandId island : clique.islands) ++streams[std::size_t(lane_down(map, island))];
  const auto go_on = [&](auto&& self, std::size_t sender, double flight) -> void {
    if (sender == ways.size()) {
      double slowest = 0;
      for (std::size_t lane = 0; lane < pace.size(); ++lane)
        slowest = std::max(slowest, streams[lane] * pace[lane]);
      best = std::min(best, flight + double(network.payload().count) * slowest);
      return;
    }
    for (const Way& way : ways[sender]) {
      double longest = flight;
      for (const Duration latency : way.latency) longest = std::max(longest, double(latency.ps));
      if (longest >= best) continue;
      for (const LaneId lane : way.route.tree) ++streams[lane];
      self(self, sender + 1, longest);
      for (const LaneId lane : way.route.tree) --streams[lane];
    }
  };
  go_on(go_on, 0, 0);
  return best;
}

// A map of a ring with chords, thin and thick links, and an island at three or four of its places.
Map small_map(std::uint64_t seed) {
  Random random(seed);
  const int islands = int(random.between(3, 4));
  const int places = islands + int(random.between(0, 1));
  std::string text =
      "name = \"small\"\npayload = \"1GB\"\n"
      "defaults = { access = \"20Gbps\", rate = \"100Gbps\" }\nedge = { memory = \"32GB\" }\n";
  const auto name = [&](int place) { return std::string(1, char('A' + place)); };
  const auto list = [&](const char* what, int from, int to) {
    text += fmt::format("{} = [", what);
    for (int i = from; i < to; ++i) text += fmt::format("{{ name = \"{}\" }},", name(i));
    text += "]\n";
  };
  list("islands", 0, islands);
  list("routers", islands, places);
  text += "links = [\n";
  const auto link = [&](int a, int b) {
    text += fmt::format("{{ ends = [\"{}\", \"{}\"], latency = \"{}ms\", rate = \"{}Gbps\" }},\n",
                        name(a), name(b), random.between(1, 60), random.between(1, 5) * 10);
  };
  for (int a = 0; a < places; ++a) link(a, (a + 1) % places);
  for (int a = 0; a < places; ++a)
    for (int b = a + 2; b < places; ++b)
      if ((a != 0 || b != places - 1) && random.between(0, 2) == 0) link(a, b);
  text += "]\n";
  return testing::map_of(text);
}

TEST(Reroute, IsTheBestOfAllTreesOnSmallMaps) {
  for (std::uint64_t seed = 1; seed <= (testing::kSanitized ? 7 : 150); ++seed) {
    const auto small = fixture_of(small_map(seed));
    const Schedule schedule = *named_schedule("all-to-all", small->map, small->routes);
    const Plan plan = plan_with_routes(small->network, "all-to-all");
    const double least = least_of_all(small->network, schedule.rounds[0].cliques[0]);
    EXPECT_NEAR(plan.round.ps, least, 1e-9 * least) << "seed " << seed;
  }
}

TEST(Detours, LetNearIslandsOfATriangleTakeTheLongWayRatherThanWait) {
  // A and B are 10 ms apart, C 100 ms from both; another way from A to B takes 100 ms.
  const auto triangle = fixture_of(with_memory(testing::map_of(R"(
name     = "triangle"
payload  = "1GB"
defaults = { access = "20Gbps", rate = "100Gbps" }
islands  = [{ name = "A" }, { name = "B" }, { name = "C" }]
routers  = [{ name = "R" }]
links    = [
  { ends = ["A", "B"], latency = "10ms" },
  { ends = ["A", "C"], latency = "100ms" },
  { ends = ["B", "C"], latency = "100ms" },
  { ends = ["A", "R"], latency = "50ms" },
  { ends = ["R", "B"], latency = "50ms" },
]
)"),
                                               Bytes{0}));
  const auto schedule = named_schedule("all-to-all", triangle->map, triangle->routes);
  EXPECT_NEAR(make_plan(triangle->network, *schedule).round.ms(), 590, 1e-9);
  const Plan plan = plan_with_routes(triangle->network, "all-to-all");
  EXPECT_NEAR(plan.round.ms(), 500, 1e-9);
  for (const Stream& stream : plan.rounds[0].cliques[0].streams) EXPECT_EQ(stream.offset.ps, 0);
}

}  // namespace
}  // namespace cotillion
