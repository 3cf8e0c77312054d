#include "plan/streams.hpp"

#include <gtest/gtest.h>

#include <map>

#include "plan/every_round.hpp"
#include "plan/named_schedule.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using testing::fixture_of;

std::map<std::string, int> loads_of(const testing::MapFixture& fixture, const Clique& clique) {
  LoadCounter counter(fixture.network);
  std::vector<LaneLoad> loads;
  counter.count(clique, loads);
  std::map<std::string, int> named;
  for (const LaneLoad& load : loads) named[lane_name(fixture.map, load.lane)] = load.streams;
  return named;
}

// A star: every island one hop from the hub.
Map star() {
  return testing::map_of(R"(
    payload = "1GB"
    defaults = { access = "20Gbps", rate = "100Gbps" }
    islands = [{ name = "A" }, { name = "B" }, { name = "C" }, { name = "D" }]
    routers = [{ name = "hub" }]
    links = [{ ends = ["A", "hub"], latency = "1ms" }, { ends = ["B", "hub"], latency = "1ms" },
             { ends = ["C", "hub"], latency = "1ms" }, { ends = ["D", "hub"], latency = "1ms" }]
  )");
}

TEST(Streams, MulticastPutsOneStreamOfASenderOnEachLane) {
  const auto fixture = fixture_of(star());
  const auto loads = loads_of(*fixture, {{0, 1, 2, 3}, {}});
  EXPECT_EQ(loads.at("A→net"), 1);
  EXPECT_EQ(loads.at("A→hub"), 1);
  EXPECT_EQ(loads.at("hub→A"), 3);  // side by side in the core
  EXPECT_EQ(loads.at("net→A"), 1);  // summed at the edge
}

TEST(Streams, UnicastPutsOneCopyPerReceiverBehindTheLane) {
  const auto fixture = fixture_of(star(), {{false, true}, false});
  const auto loads = loads_of(*fixture, {{0, 1, 2, 3}, {}});
  EXPECT_EQ(loads.at("A→net"), 3);
  EXPECT_EQ(loads.at("A→hub"), 3);
  EXPECT_EQ(loads.at("hub→A"), 3);
  EXPECT_EQ(loads.at("net→A"), 1);
}

TEST(Streams, WithoutAnEdgeEveryStreamEntersTheAccessLink) {
  const auto fixture = fixture_of(star(), {{true, false}, false});
  EXPECT_EQ(loads_of(*fixture, {{0, 1, 2, 3}, {}}).at("net→A"), 3);
}

TEST(Streams, AloneAnIslandSendsNothing) {
  const auto fixture = fixture_of(star());
  EXPECT_TRUE(loads_of(*fixture, {{2}, {}}).empty());
}

TEST(Streams, CliquesOfOneRoundShareALaneEqually) {
  // A–B and C–D both cross the middle link.
  const auto fixture = fixture_of(testing::map_of(R"(
    payload = "1GB"
    defaults = { access = "90Gbps", rate = "100Gbps" }
    islands = [{ name = "A" }, { name = "B" }, { name = "C" }, { name = "D" }]
    routers = [{ name = "west" }, { name = "east" }]
    links = [{ ends = ["A", "west"], latency = "1ms" }, { ends = ["C", "west"], latency = "1ms" },
             { ends = ["B", "east"], latency = "1ms" }, { ends = ["D", "east"], latency = "1ms" },
             { ends = ["west", "east"], latency = "9ms" }]
  )"));
  const RoundRates rates = rates_of(fixture->network, completed({{{0, 1}, {}}, {{2, 3}, {}}}, 4));
  EXPECT_EQ(rates.bounds[0].rate.gbps(), 50);
  EXPECT_EQ(rates.bounds[0].streams, 2);
  EXPECT_EQ(lane_name(fixture->map, rates.bounds[0].lane), "west→east");
}

TEST(Streams, CountingAgreesWithTheTreesWrittenOut) {
  for (const bool multicast : {true, false}) {
    const auto fixture = fixture_of(example_map("nine-cities"), {{multicast, true}, false});
    for (const Round& round : every_round(9)) {
      if (round.cliques.size() != 3) continue;
      const Clique& clique = round.cliques[0];
      if (clique.size() < 2) continue;
      std::map<std::string, int> expected;
      for (int j = 0; j < clique.size(); ++j) {
        const StreamRoute route = route_stream(fixture->network, clique, j);
        for (std::size_t k = 0; k < route.tree.size(); ++k)
          expected[lane_name(fixture->map, route.tree[k])] += route.copies[k];
        expected[lane_name(fixture->map, lane_down(fixture->map, clique.islands[j]))] += 1;
      }
      ASSERT_EQ(loads_of(*fixture, clique), expected);
    }
  }
}

}  // namespace
}  // namespace cotillion
