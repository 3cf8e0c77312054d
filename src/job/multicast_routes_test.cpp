#include "job/multicast_routes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

using testing::nine_city_plan;
using testing::plan_file;

// What one packet does when it leaves its island and every router obeys its entries.
struct Flight {
  std::multiset<LaneId> lanes;            // crossed, the sender's up lane included
  std::multiset<PlaceId> edges, islands;  // where it was handed over
};

using Tables = std::vector<std::vector<MulticastRoute>>;  // by place

Tables tables_of(const PlanFile& plan, const MulticastGroups& groups) {
  Tables tables;
  for (PlaceId place = 0; place < plan.map.place_count(); ++place)
    tables.push_back(routes_at(plan, groups, place));
  return tables;
}

// Follows entries only: where they lead in a circle the flight grows beyond any tree.
void fly(const Map& map, const Tables& tables, const MulticastGroup& group, PlaceId at,
         const Port& from, Flight& flight) {
  ASSERT_LT(int(flight.lanes.size()), 2 * map.lane_count()) << "a loop";
  for (const MulticastRoute& route : tables[std::size_t(at)]) {
    if (route.group->sender != group.sender || route.group->address != group.address) continue;
    ASSERT_EQ(route.in, from) << "the packet would be dropped at " << place_name(map, at);
    for (const Port& out : route.out) {
      if (out.kind == Port::Kind::kEdge) flight.edges.insert(at);
      if (out.kind == Port::Kind::kIsland) flight.islands.insert(at);
      if (out.kind != Port::Kind::kLink) continue;
      const Link& link = map.links[std::size_t(out.link)];
      const int direction = link.ends[0] == at ? 0 : 1;
      ASSERT_EQ(link.ends[direction], at) << "no link of this router";
      flight.lanes.insert(lane_of_link(out.link, direction));
      fly(map, tables, group, link.ends[1 - direction], out, flight);
    }
  }
}

void expect_trees(const PlanFile& plan) {
  const MulticastGroups groups(plan.plan);
  const Tables tables = tables_of(plan, groups);
  std::size_t entries = 0, walked = 0;
  for (const auto& table : tables) {
    entries += table.size();
    std::set<std::pair<IslandId, Ipv4Address>> seen;
    for (const MulticastRoute& route : table)
      EXPECT_TRUE(seen.insert({route.group->sender, route.group->address}).second)
          << "two entries clash";
  }
  for (std::size_t phase = 0; phase < plan.plan.rounds.size(); ++phase)
    for (const PlannedClique& clique : plan.plan.rounds[phase].cliques)
      for (const Stream& stream : clique.streams) {
        const MulticastGroup* group = groups.of(phase, stream.sender);
        ASSERT_NE(group, nullptr);
        Flight flight;
        flight.lanes.insert(lane_up(plan.map, stream.sender));
        fly(plan.map, tables, *group, stream.sender, {Port::Kind::kIsland}, flight);
        EXPECT_EQ(flight.lanes, std::multiset<LaneId>(stream.tree.begin(), stream.tree.end()));
        std::set<PlaceId> edges, islands;
        for (const Arrival& arrival : stream.receivers) {
          const Ingress& ingress = plan.ingress[arrival.receiver];
          (ingress.edge == kNoAggregator ? islands : edges).insert(ingress.from);
        }
        EXPECT_EQ(flight.edges, std::multiset<PlaceId>(edges.begin(), edges.end()));
        EXPECT_EQ(flight.islands, std::multiset<PlaceId>(islands.begin(), islands.end()));
      }
  // Every lane of every group's tree is entered once, and there is nothing else.
  for (const MulticastGroup& group : groups.all()) walked += group.tree.size();
  EXPECT_EQ(entries, walked);
}

TEST(MulticastRoutes, LeadEveryStreamOfTheNineCitiesAlongItsTreeAndNowhereElse) {
  for (const char* schedule : {"triangles", "pairs", "regional", "all-to-all", "grid:3x3"}) {
    SCOPED_TRACE(schedule);
    expect_trees(nine_city_plan(schedule, {32'000'000'000}, {1'000'000'000}));
  }
}

TEST(MulticastRoutes, LeadStreamsOfRandomMapsAlongTheirTrees) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const int islands = 2 + int(seed % 13);
    const auto fixture = testing::fixture_of(testing::random_map(islands, seed));
    expect_trees(plan_file(*fixture, testing::random_schedule(islands, 1 + int(seed % 6), seed)));
  }
}

TEST(MulticastRoutes, EndAtIslandsWhereNothingSums) {
  const auto fixture =
      testing::fixture_of(testing::example_map("nine-cities"),
                          {.technology = {.multicast = true, .aggregation = false}});
  const PlanFile plan = plan_file(*fixture, testing::random_schedule(9, 3, 5));
  expect_trees(plan);
  const MulticastGroups groups(plan.plan);
  for (const auto& table : tables_of(plan, groups))
    for (const MulticastRoute& route : table)
      for (const Port& out : route.out) EXPECT_NE(out.kind, Port::Kind::kEdge);
}

TEST(MulticastRoutes, OfEdgesThatStandElsewhereEndThere) {
  Map map = testing::example_map("nine-cities");
  // One edge in London for all three of Europe: a stream for two of them is handed over once.
  const auto at = [&](const char* name) { return *find_island(map, name); };
  std::erase_if(map.aggregators.plain(), [&](const Aggregator& edge) {
    return edge.place == at("AMS") || edge.place == at("FRA");
  });
  for (Aggregator& edge : map.aggregators)
    if (edge.place == at("LON")) edge.serves = {at("LON"), at("AMS"), at("FRA")};
  expect_trees(plan_file(std::move(map), "all-to-all"));
}

TEST(MulticastGroups, AreSharedByRoundsInWhichASenderTakesTheSameWay) {
  const auto fixture = testing::nine_cities({32'000'000'000});
  const auto named = named_schedule("triangles", fixture->map, fixture->routes);
  Schedule twice = *named;
  twice.rounds.insert(twice.rounds.end(), named->rounds.begin(), named->rounds.end());
  const PlanFile once = plan_file(*fixture, *named), again = plan_file(*fixture, twice);
  const MulticastGroups groups(once.plan), same(again.plan);
  ASSERT_EQ(groups.all().size(), same.all().size());
  for (std::size_t i = 0; i < groups.all().size(); ++i) {
    EXPECT_EQ(groups.all()[i].address, same.all()[i].address);
    EXPECT_EQ(2 * groups.all()[i].phases.size(), same.all()[i].phases.size());
  }
}

TEST(MulticastGroups, AreDifferentForEveryWayEvenWhereCliquesHaveTheSameNumber) {
  const PlanFile plan = nine_city_plan("triangles", {32'000'000'000}, {1'000'000'000});
  const MulticastGroups groups(plan.plan);
  // TYO is in the first clique of every round, with other partners each time.
  std::set<Ipv4Address> addresses;
  for (std::size_t phase = 0; phase < plan.plan.rounds.size(); ++phase)
    addresses.insert(groups.of(phase, 0)->address);
  EXPECT_EQ(addresses.size(), plan.plan.rounds.size());
  EXPECT_EQ(*addresses.begin(), group_address(0, 0));
}

TEST(MulticastGroups, HaveNothingForThoseWhoSitOut) {
  const auto fixture = testing::nine_cities({0});
  Schedule schedule{"two meet", {completed({{{2, 5}, {}}}, 9), completed({{{0, 8}, {}}}, 9)}};
  const PlanFile plan = plan_file(*fixture, schedule);
  const MulticastGroups groups(plan.plan);
  EXPECT_EQ(groups.all().size(), 4u);
  EXPECT_EQ(groups.of(0, 0), nullptr);
  EXPECT_NE(groups.of(0, 5), nullptr);
  EXPECT_EQ(groups.of(1, 5), nullptr);
  EXPECT_NE(groups.of(1, 8), nullptr);
}

TEST(MulticastGroups, AreRefusedForPlansWithoutMulticast) {
  const auto fixture =
      testing::fixture_of(testing::example_map("nine-cities"),
                          {.technology = {.multicast = false, .aggregation = true}});
  const auto groups = groups_of(plan_file(*fixture, testing::random_schedule(9, 2, 1)).plan);
  ASSERT_FALSE(groups.has_value());
  EXPECT_NE(groups.error().message.find("without multicast"), std::string::npos);
}

TEST(Ports, AreCalledByTheirNeighbours) {
  const Map map = testing::example_map("nine-cities");
  const PlaceId tokyo = *find_place(map, "TYO");
  std::set<std::string> names;
  for (const Port& port : link_ports(map, tokyo)) names.insert(port_name(map, tokyo, port));
  EXPECT_TRUE(names.contains("HKG"));
  EXPECT_FALSE(names.contains("TYO"));
  EXPECT_EQ(port_name(map, tokyo, {Port::Kind::kEdge}), "its edge");
  EXPECT_FALSE(find_place(map, "MOON").has_value());
}

}  // namespace
}  // namespace cotillion
