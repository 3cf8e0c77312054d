#include "plan/named_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/mixing.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using ::testing::HasSubstr;
using testing::random_map;

std::string text_of(const Map& map, const Schedule& schedule) {
  std::string text;
  for (const Round& round : schedule.rounds) {
    for (const Clique& clique : round.cliques) {
      text += "(";
      for (const IslandId island : clique.islands) text += map.islands[island].name + " ";
      text.back() = ')';
    }
    text += "\n";
  }
  return text;
}

std::string schedule_on_nine_cities(const std::string& name) {
  const Map map = example_map("nine-cities");
  return text_of(map, *named_schedule(name, map, Routes(map)));
}

TEST(NamedSchedule, NineCitiesDanceAsInThePaper) {
  EXPECT_EQ(schedule_on_nine_cities("triangles"),
            "(TYO HKG SIN)(LAX NYC WAS)(LON AMS FRA)\n"
            "(TYO LAX FRA)(HKG WAS AMS)(SIN NYC LON)\n");
  EXPECT_EQ(schedule_on_nine_cities("pairs"),
            "(TYO LAX)(HKG SIN)(NYC WAS)(LON AMS)(FRA)\n"
            "(TYO HKG)(SIN)(LAX WAS)(NYC LON)(AMS FRA)\n");
  EXPECT_EQ(schedule_on_nine_cities("regional"),
            "(TYO HKG SIN)(LAX NYC WAS)(LON AMS FRA)\n"
            "(TYO LAX)(HKG)(SIN FRA)(NYC LON)(WAS)(AMS)\n");
  EXPECT_EQ(schedule_on_nine_cities("all-to-all"), "(TYO HKG SIN LAX NYC WAS LON AMS FRA)\n");
}

TEST(NamedSchedule, GridRoundsAreOrthogonalAndSettleOnceAround) {
  for (const auto& [islands, sides, rounds] : {std::tuple{12, "grid:3x4", 2},
                                               {8, "grid:2x2x2", 3},
                                               {27, "grid:3x3x3", 3},
                                               {6, "grid", 2}}) {
    const Map map = random_map(islands, 3);
    const auto schedule = named_schedule(sides, map, Routes(map));
    ASSERT_TRUE(schedule);
    EXPECT_EQ(mix(*schedule, islands).settles_after, rounds) << sides;
  }
}

TEST(NamedSchedule, TrianglesConnectEverybodyWhereverTheyAreDefined) {
  for (int n = 3; n <= 60; n += 3) {
    const Map map = random_map(n, std::uint64_t(n));
    const auto schedule = named_schedule("triangles", map, Routes(map));
    ASSERT_TRUE(schedule);
    EXPECT_TRUE(connects_all(*schedule, n)) << n;
    for (const Round& round : schedule->rounds)
      for (const Clique& clique : round.cliques) EXPECT_EQ(clique.size(), 3);
  }
}

TEST(NamedSchedule, RegionalConnectsManySmallRegions) {
  Map map = random_map(12, 5);
  for (IslandId i = 0; i < 12; ++i) map.islands[i].region = std::string(1, char('a' + i / 2));
  const auto schedule = named_schedule("regional", map, Routes(map));
  ASSERT_TRUE(schedule);
  EXPECT_TRUE(connects_all(*schedule, 12));
}

TEST(NamedSchedule, WhatIsNotDefinedSaysSoAndWhatToDo) {
  const Map map = random_map(7, 1);
  const Routes routes(map);
  EXPECT_THAT(named_schedule("triangles", map, routes).error().message,
              HasSubstr("multiple of three"));
  EXPECT_THAT(named_schedule("grid", map, routes).error().message, HasSubstr("no product"));
  EXPECT_THAT(named_schedule("grid:2x4", map, routes).error().message, HasSubstr("product is 7"));
  EXPECT_THAT(named_schedule("grid:x", map, routes).error().message, HasSubstr("grid:3x4"));
  EXPECT_THAT(named_schedule("regional", map, routes).error().message, HasSubstr("region = "));
  EXPECT_THAT(named_schedule("triangels", map, routes).error().message,
              HasSubstr("did you mean 'triangles'?"));
}

TEST(NamedSchedule, SmallMapsHaveSchedulesToo) {
  for (int n = 1; n <= 3; ++n) {
    const Map map = random_map(n, 2);
    const Routes routes(map);
    EXPECT_FALSE(named_schedule("pairs", map, routes)->rounds.empty());
    EXPECT_FALSE(named_schedule("all-to-all", map, routes)->rounds.empty());
  }
}

TEST(NamedSchedule, TheLineVisitsEveryIslandOnce) {
  const Map map = random_map(40, 9);
  std::vector<IslandId> line = line_of_islands(map, Routes(map));
  std::sort(line.begin(), line.end());
  for (int i = 0; i < 40; ++i) EXPECT_EQ(line[i], i);
}

}  // namespace
}  // namespace cotillion
