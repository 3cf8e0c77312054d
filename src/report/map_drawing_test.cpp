#include "report/map_drawing.hpp"

#include <cmath>

#include "plan/named_schedule.hpp"
#include "report/map_drawing_layout.hpp"
#include "report/svg_test.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using testing::expect_sound;
using testing::fixture_of;
using testing::kHostileNames;
using testing::map_of;
using testing::random_map;
using testing::random_schedule;

double distance(Point a, Point b) {
  return std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
}

void expect_inside(const MapLayout& layout, const Box& frame) {
  for (const Point& at : layout.places) {
    EXPECT_GE(at.x, frame.x);
    EXPECT_LE(at.x, frame.right());
    EXPECT_GE(at.y, frame.y);
    EXPECT_LE(at.y, frame.bottom());
  }
}

TEST(BestCut, GoesWhereTheFewestLinksCross) {
  // Around the globe at 0, 90, 180 and 270; only 90 to 180 has no link.
  EXPECT_NEAR(best_cut({0, 90, 180, -90}, {{0, 90}, {180, -90}, {-90, 0}}), 135, 1e-9);
  // A link from 170 to -170 takes the short way over the date line.
  EXPECT_NEAR(best_cut({170, -170}, {{170, -170}}), 0, 1e-9);
}

TEST(BestCut, AmongEqualsTheWidestGapWins) {
  const double cut = best_cut({-100, -70, 10, 30}, {});
  EXPECT_NEAR(std::fmod(cut + 360, 360), 145, 1e-9);
  EXPECT_TRUE(std::isfinite(best_cut({}, {})));
  EXPECT_TRUE(std::isfinite(best_cut({7}, {{7, 7}})));
}

TEST(MapLayout, NineCitiesAreCutInThePacificAndPushedApart) {
  const auto fixture = fixture_of(example_map("nine-cities"));
  const Box frame{100, 50, 700, 400};
  const MapLayout layout = lay_out_map(fixture->map, fixture->routes, frame, 50);
  EXPECT_TRUE(layout.geographic);
  expect_inside(layout, frame);
  for (int i = 0; i < 9; ++i)
    for (int j = i + 1; j < 9; ++j)
      EXPECT_GT(distance(layout.places[i], layout.places[j]), 48) << i << " " << j;
  int around = 0;
  for (const bool link : layout.around) around += link ? 1 : 0;
  EXPECT_EQ(around, 2) << "TYO-LAX and SIN-LAX";
  const auto x = [&](const char* name) {
    return layout.places[*find_island(fixture->map, name)].x;
  };
  EXPECT_LT(x("LAX"), x("NYC"));
  EXPECT_LT(x("NYC"), x("LON"));
  EXPECT_LT(x("FRA"), x("SIN"));
}

TEST(MapLayout, WithoutCoordinatesFarIslandsStandFarApart) {
  const auto fixture = fixture_of(map_of(R"(
payload = "1GB"
defaults = { access = "20Gbps", rate = "100Gbps" }
islands = [{ name = "A" }, { name = "B" }, { name = "C" }]
routers = [{ name = "R" }]
links = [{ ends = ["A", "R"], latency = "1ms" }, { ends = ["B", "R"], latency = "1ms" },
         { ends = ["C", "R"], latency = "80ms" }])"));
  const Box frame{0, 0, 600, 400};
  const MapLayout layout = lay_out_map(fixture->map, fixture->routes, frame, 10);
  EXPECT_FALSE(layout.geographic);
  expect_inside(layout, frame);
  EXPECT_LT(distance(layout.places[0], layout.places[1]),
            distance(layout.places[0], layout.places[2]));
}

TEST(MapSvg, ShowsLatenciesAndWhereLinksGoOn) {
  const auto fixture = fixture_of(example_map("nine-cities"));
  const std::string svg = map_svg(fixture->map, fixture->routes);
  expect_sound(svg);
  EXPECT_NE(svg.find(">67.0</text>"), std::string::npos);
  EXPECT_NE(svg.find(">to TYO 49.4</text>"), std::string::npos);
  EXPECT_NE(svg.find(">to LAX 86.7</text>"), std::string::npos);
  EXPECT_EQ(svg, map_svg(fixture->map, fixture->routes));
}

TEST(MapSvg, EveryExampleAndLargeMapsAreSound) {
  for (const char* name : {"nine-cities", "isosceles", "asymmetric-triangle"}) {
    const auto fixture = fixture_of(example_map(name));
    expect_sound(map_svg(fixture->map, fixture->routes));
  }
  for (const int islands : {1, 2, 40, 120}) {
    const auto fixture = fixture_of(random_map(islands, 7));
    const std::string svg = map_svg(fixture->map, fixture->routes);
    expect_sound(svg);
    EXPECT_EQ(svg.find("ms.") != std::string::npos,
              !fixture->map.links.empty() && fixture->map.links.size() <= 40);
    expect_sound(cliques_svg(fixture->map, fixture->routes, random_schedule(islands, 15, 3)));
  }
}

TEST(MapSvg, IslandsOnOneSpotAndHostileNamesAreDrawn) {
  Map map = random_map(int(kHostileNames.size()), 5);
  for (const IslandId i : map.islands.ids()) {
    map.islands[i].name = kHostileNames[i];
    map.islands[i].coordinates = Coordinates{90, 180};
  }
  const auto fixture = fixture_of(map);
  expect_sound(map_svg(fixture->map, fixture->routes));
  Schedule schedule = random_schedule(map.island_count(), 2, 3);
  schedule.name = kHostileNames[0];
  expect_sound(cliques_svg(fixture->map, fixture->routes, schedule));
}

TEST(MapSvg, PlacesJustEastAndWestOfTheCutAreJoinedOverTheRim) {
  // All round the globe, so that any cut has places right beside it; two of them on one meridian
  // but for a hair.
  Map map = random_map(24, 11);
  for (IslandId i = 0; i < 24; ++i)
    map.islands[i].coordinates = Coordinates{double(i % 5) * 10, -180.0 + 15 * i};
  map.islands[1].coordinates->longitude = 179.999;
  const auto fixture = fixture_of(map);
  expect_sound(map_svg(fixture->map, fixture->routes));
  expect_sound(cliques_svg(fixture->map, fixture->routes, random_schedule(24, 4, 2)));
}

TEST(MapSvg, AnIslandWithoutCoordinatesStandsAmidItsNeighbours) {
  Map map = example_map("nine-cities");
  map.islands[0].coordinates.reset();
  const auto fixture = fixture_of(map);
  expect_sound(map_svg(fixture->map, fixture->routes));
}

TEST(CliquesSvg, HasAPanelForEachRoundUpToTwelve) {
  const auto fixture = fixture_of(example_map("nine-cities"));
  const auto panels = [&](int rounds) {
    const std::string svg =
        cliques_svg(fixture->map, fixture->routes, random_schedule(9, rounds, 1));
    expect_sound(svg);
    std::size_t count = 0;
    for (std::size_t at = svg.find(">round "); at != std::string::npos;
         at = svg.find(">round ", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(panels(1), 1u);
  EXPECT_EQ(panels(5), 5u);
  EXPECT_EQ(panels(40), 12u);
}

TEST(CliquesSvg, TheSameScheduleIsTheSameBytes) {
  const auto fixture = fixture_of(example_map("nine-cities"));
  const auto schedule = named_schedule("triangles", fixture->map, fixture->routes);
  ASSERT_TRUE(schedule.has_value());
  EXPECT_EQ(cliques_svg(fixture->map, fixture->routes, *schedule),
            cliques_svg(fixture->map, fixture->routes, *schedule));
}

}  // namespace
}  // namespace cotillion
