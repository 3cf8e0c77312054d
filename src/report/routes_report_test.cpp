#include "report/routes_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;

// A ring of four, in which A and C meet by way of B in both rounds.
PlanFile ring() {
  const auto fixture = testing::fixture_of(testing::map_of(R"(
name = "Ring"
payload = "1MB"
edge = { memory = "1GB" }
defaults = { access = "1Gbps", rate = "10Gbps" }
islands = [{ name = "A" }, { name = "B" }, { name = "C" }, { name = "D" }]
links = [{ ends = ["A", "B"], latency = "1ms" }, { ends = ["B", "C"], latency = "1ms" },
         { ends = ["C", "D"], latency = "2ms" }, { ends = ["D", "A"], latency = "2ms" }]
)"));
  const Schedule schedule{
      "ring", {completed({{{0, 2}, {}}}, 4), completed({{{0, 2}, {}}, {{1, 3}, {}}}, 4)}};
  return testing::plan_file(*fixture, schedule);
}

// A plan of someone else: in the second round A's stream goes by way of D.
PlanFile ring_both_ways() {
  PlanFile plan = ring();
  for (PlannedClique& clique : plan.plan.rounds[1].cliques)
    for (Stream& stream : clique.streams)
      if (stream.sender == 0)
        stream.tree = {lane_up(plan.map, 0), lane_of_link(3, 1), lane_of_link(2, 1)};
  return plan;
}

std::vector<Ipv4Address> sources() {
  return {0xc0000201, 0xc0000202, 0xc0000203, 0xc0000204};  // 192.0.2.1, …
}

TEST(RoutesReport, ShowsWhereStreamsComeFromAndGo) {
  const PlanFile plan = ring();
  const MulticastGroups groups(plan.plan);
  EXPECT_EQ(routes_text({plan, groups, sources()}, 1),
            "Ring: ring; 4 of 4 groups pass B\n"
            "sender  source     group       from        to        rounds\n"
            "A       192.0.2.1  239.0.0.0   A           C         1 2\n"
            "B       192.0.2.2  239.0.16.0  its island  A         2\n"
            "C       192.0.2.3  239.0.32.0  C           A         1 2\n"
            "D       192.0.2.4  239.0.48.0  A           its edge  2\n");
  EXPECT_EQ(routes_text({plan, groups, sources()}, 3),
            "Ring: ring; 2 of 4 groups pass D\n"
            "sender  source     group       from        to        rounds\n"
            "B       192.0.2.2  239.0.16.0  A           its edge  2\n"
            "D       192.0.2.4  239.0.48.0  its island  A         2\n");
}

TEST(RoutesReport, SaysTheSameAsJson) {
  const PlanFile plan = ring();
  const MulticastGroups groups(plan.plan);
  const RoutesStudy study{plan, groups, sources()};
  const Json here = routes_json(study, 1), all = groups_json(study);
  EXPECT_EQ(here["at"], "B");
  EXPECT_EQ(here["port"], 29900);
  EXPECT_EQ(here["routes"].size(), 4u);
  EXPECT_EQ(here["routes"][0]["in"], (Json{{"kind", "link"}, {"neighbour", "A"}}));
  EXPECT_EQ(here["routes"][3]["out"][0], (Json{{"kind", "edge"}}));
  EXPECT_EQ(all["routers"][1]["routes"], here["routes"]);
  EXPECT_EQ(all["groups"][0]["tree"], (Json{"A→net", "A→B", "B→C"}));
  EXPECT_EQ(all["groups"][0]["receivers"][0]["island"], "C");
  EXPECT_TRUE(all["two_ways_to_a_source"].empty());
}

TEST(RoutesReport, WritesMembershipsAtTheLastHopsOnly) {
  const PlanFile plan = ring();
  const MulticastGroups groups(plan.plan);
  const std::string text = frr_memberships({plan, groups, sources()});
  EXPECT_THAT(text, HasSubstr("! router at C\ninterface to-edge\n ip igmp\n"
                              " ip igmp static-group 239.0.0.0 192.0.2.1\nexit\n"));
  EXPECT_THAT(text, HasSubstr("ip pim ssm prefix-list cotillion\n"));
  EXPECT_EQ(text.find("to-B"), std::string::npos);
}

TEST(RoutesReport, WritesTreesAsStaticRoutes) {
  const PlanFile plan = ring();
  const MulticastGroups groups(plan.plan);
  const std::string text = frr_static_routes({plan, groups, sources()});
  EXPECT_THAT(text, HasSubstr("! router at B\ninterface to-A\n"
                              " ip mroute to-C 239.0.0.0 192.0.2.1\n"
                              " ip mroute to-edge 239.0.48.0 192.0.2.4\nexit\n"));
}

TEST(RoutesReport, WarnsWherePimCannotBuildTheTrees) {
  const PlanFile plan = ring_both_ways();
  const MulticastGroups groups(plan.plan);
  const RoutesStudy study{plan, groups, sources()};
  EXPECT_EQ(groups.all().size(), 5u);
  EXPECT_THAT(two_ways_to_a_source(study), ::testing::ElementsAre("C: streams of A from B and D"));
  EXPECT_THAT(groups_text(study), HasSubstr("not for PIM: C: streams of A from B and D\n"));
  EXPECT_THAT(frr_memberships(study), HasSubstr("! NOT FOR PIM: C"));
}

TEST(RoutesReport, WritesReversePathsWhereTreesAreNotTheShortest) {
  const PlanFile plan = ring_both_ways();
  const MulticastGroups groups(plan.plan);
  const RoutesStudy study{plan, groups, sources()};
  const auto others = other_ways(study);
  ASSERT_FALSE(others.empty());
  for (const OtherWay& way : others) {
    const std::string at = place_name(plan.map, way.at), from = port_name(plan.map, way.at, way.in);
    EXPECT_THAT(groups_text(study), HasSubstr("not the shortest way: " + at + ": streams of "));
    EXPECT_THAT(frr_memberships(study),
                HasSubstr("! router at " + at + "\nip mroute " +
                          to_text(study.sources[way.sender]) + "/32 to-" + from + "\n"));
  }
  EXPECT_EQ(groups_json(study)["other_than_shortest"].size(), others.size());
  const PlanFile ring_plan = ring();
  const MulticastGroups ring_groups(ring_plan.plan);
  EXPECT_TRUE(other_ways({ring_plan, ring_groups, sources()}).empty());
}

}  // namespace
}  // namespace cotillion
