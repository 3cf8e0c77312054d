// The check of real multicast, and that it can fail.
#include "lab/crossings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/plan/plans.hpp"

namespace cotillion {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Four islands about a hub, in two rounds: everyone, and A with B. C sums for itself.
class OfFour : public ::testing::Test {
 protected:
  static PlanFile make() {
    const auto fixture = testing::fixture_of(testing::map_of(R"(
name = "four"
payload = "1MB"
edge = { memory = "1GB" }
islands = [
  { name = "A", access = "1Gbps" }, { name = "B", access = "1Gbps" },
  { name = "C", access = "1Gbps", edge = false }, { name = "D", access = "1Gbps" } ]
routers = [ { name = "hub" } ]
links = [
  { ends = ["A", "hub"], latency = "1ms", rate = "10Gbps" },
  { ends = ["hub", "B"], latency = "2ms", rate = "10Gbps" },
  { ends = ["hub", "C"], latency = "1ms", rate = "10Gbps" },
  { ends = ["hub", "D"], latency = "1ms", rate = "10Gbps" } ]
)"));
    return testing::plan_file(
        *fixture,
        Schedule{"four", {completed({{{0, 1, 2, 3}, {}}}, 4), completed({{{0, 1}, {}}}, 4)}});
  }

  // What the emulator of a sound lab has seen after two rounds of seven packets.
  [[nodiscard]] WanCounters sound() const {
    WanCounters counters;
    counters.lanes.resize(std::size_t(plan.map.lane_count()));
    for (LaneId lane = 0; lane < plan.map.lane_count(); ++lane)
      for (const MulticastGroup& group : groups.all()) {
        LaneCounters& lane_counters = counters.lanes[lane];
        lane_counters.by_group.push_back(crosses(plan, group, lane) ? 7 : 0);
        lane_counters.left_by_group.push_back(lane_counters.by_group.back());
      }
    return counters;
  }
  [[nodiscard]] std::size_t group_of(std::size_t phase, IslandId sender) const {
    return std::size_t(groups.of(phase, sender) - groups.all().data());
  }
  LaneCounters& counters_of(WanCounters& counters, const std::string& lane) const {
    for (LaneId each = 0; each < plan.map.lane_count(); ++each)
      if (lane_name(plan.map, each) == lane) return counters.lanes[each];
    COTILLION_CHECK(false);
  }

  PlanFile plan = make();
  MulticastGroups groups{plan.plan};
};

TEST_F(OfFour, ALabInWhichEveryStreamCrossesItsTreeOnceIsSound) {
  const Crossings seen = crossings_of(plan, groups, sound(), 2);
  EXPECT_THAT(seen.problems, ElementsAre());
  EXPECT_EQ(seen.streams, 6u);
  EXPECT_EQ(seen.links, 13u);  // eight of core links, four up, and the one down to C
  EXPECT_THAT(crossings_text(seen), HasSubstr("Multicast is real: 6 streams on 13 links"));
  EXPECT_TRUE(crossings_json(seen).at("is_real").get<bool>());
}

TEST_F(OfFour, ACopyOnAnotherLinkIsFound) {
  WanCounters counters = sound();
  counters_of(counters, "hub→D").by_group[group_of(1, 0)] = 1;  // of A's stream for B alone
  const Crossings seen = crossings_of(plan, groups, counters, 2);
  ASSERT_EQ(seen.problems.size(), 1u);
  EXPECT_THAT(seen.problems[0], HasSubstr("A's stream"));
  EXPECT_THAT(seen.problems[0], HasSubstr("no business, 1 packets of it, on hub→D"));
  EXPECT_THAT(crossings_text(seen), HasSubstr("Not every stream"));
  EXPECT_FALSE(crossings_json(seen).at("is_real").get<bool>());
}

TEST_F(OfFour, AStreamThatCrossesALinkTwiceIsFound) {
  WanCounters counters = sound();
  counters_of(counters, "hub→B").by_group[group_of(0, 0)] = 14;
  const Crossings seen = crossings_of(plan, groups, counters, 2);
  ASSERT_EQ(seen.problems.size(), 1u);
  EXPECT_THAT(seen.problems[0], HasSubstr("came 14 times, having left A→hub 7 times, on hub→B"));
}

TEST_F(OfFour, AStreamThatAKernelDropsIsFound) {
  WanCounters counters = sound();
  counters_of(counters, "hub→C").by_group[group_of(0, 3)] = 6;
  const Crossings seen = crossings_of(plan, groups, counters, 2);
  ASSERT_EQ(seen.problems.size(), 1u);
  EXPECT_THAT(seen.problems[0], HasSubstr("came 6 times, having left D→hub 7 times, on hub→C"));
}

TEST_F(OfFour, WhatFaultsLoseAndDoubleIsAccountedFor) {
  WanCounters counters = sound();
  const std::size_t group = group_of(0, 0);
  counters_of(counters, "A→hub").left_by_group[group] = 6;  // one was lost
  for (const char* lane : {"hub→B", "hub→C", "hub→D"}) {
    counters_of(counters, lane).by_group[group] = 6;
    counters_of(counters, lane).left_by_group[group] = 6;
  }
  counters_of(counters, "hub→C").left_by_group[group] = 8;  // two were doubled
  counters_of(counters, "net→C").by_group[group] = 8;
  EXPECT_THAT(crossings_of(plan, groups, counters, 2).problems, ElementsAre());
}

TEST_F(OfFour, OnlyTheDeadAndRoundsThatWereNotPlayedMayBeSilent) {
  WanCounters counters = sound();
  for (LaneCounters& lane : counters.lanes)
    for (const IslandId island : all_ids<IslandId>(2))
      lane.by_group[group_of(1, island)] = lane.left_by_group[group_of(1, island)] = 0;
  EXPECT_THAT(crossings_of(plan, groups, counters, 1).problems, ElementsAre());
  EXPECT_THAT(crossings_of(plan, groups, counters, 2, {0, 1}).problems, ElementsAre());
  const Crossings seen = crossings_of(plan, groups, counters, 2, {0});
  ASSERT_EQ(seen.problems.size(), 1u);
  EXPECT_THAT(seen.problems[0], HasSubstr("B's stream"));
  EXPECT_THAT(seen.problems[0], HasSubstr("sent nothing on B→net"));
}

}  // namespace
}  // namespace cotillion
