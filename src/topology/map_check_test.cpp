#include "topology/map_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Coordinates kLondon{51.51, -0.13};
constexpr Coordinates kNewYork{40.71, -74.01};
constexpr Coordinates kTokyo{35.68, 139.69};
constexpr Coordinates kLosAngeles{34.05, -118.24};

std::vector<std::string> texts(Problems& problems) {
  std::vector<std::string> found;
  for (const Diagnostic& diagnostic : problems.take()) found.push_back(to_text(diagnostic));
  return found;
}

// Two islands and the link between them.
Map pair_of(std::optional<Coordinates> a, std::optional<Coordinates> b, Duration there,
            Duration back) {
  Map map;
  map.islands = {{"A", "", "", a, {1e9}, {1e9}}, {"B", "", "", b, {1e9}, {1e9}}};
  map.links = {{{0, 1}, {there, back}, {{1e9}, {1e9}}}};
  return map;
}

std::vector<std::string> light_findings(const Map& map) {
  Problems problems("map.toml");
  check_light(map, {{7, 3}}, problems);
  return texts(problems);
}

constexpr Duration ms(double value) {
  return {std::int64_t(value * kPicosecondsPerMillisecond)};
}

TEST(Distance, LondonToNewYorkIs5570Kilometres) {
  EXPECT_NEAR(distance_km(kLondon, kNewYork), 5570, 5);
  EXPECT_EQ(distance_km(kLondon, kNewYork), distance_km(kNewYork, kLondon));
}

TEST(Distance, CrossesTheDateLineTheShortWay) {
  EXPECT_NEAR(distance_km(kTokyo, kLosAngeles), 8815, 10);
}

TEST(Distance, FromAPlaceToItselfIsZeroAndToItsAntipodeHalfTheEarth) {
  EXPECT_EQ(distance_km(kLondon, kLondon), 0);
  EXPECT_NEAR(distance_km({0, 0}, {0, 180}), 20'015, 1);
  EXPECT_NEAR(distance_km({90, 0}, {-90, 55}), 20'015, 1);
}

TEST(Light, ALinkFasterThanLightIsAbsurd) {
  EXPECT_THAT(light_findings(pair_of(kLondon, kNewYork, ms(3.2), ms(3.2))),
              ElementsAre("map.toml:7:3: links[0].latency: absurd latency: A–B is 5570 km, which "
                          "light crosses in 18.6 ms, not 3.2 ms; "
                          "correct the latency or the coordinates"));
}

TEST(Light, TheQuickerDirectionDecides) {
  EXPECT_THAT(light_findings(pair_of(kLondon, kNewYork, ms(40), ms(3.2))).size(), 1);
  EXPECT_THAT(light_findings(pair_of(kLondon, kNewYork, ms(3.2), ms(40))).size(), 1);
}

TEST(Light, LightInVacuumIsTheLimitNotLightInFibre) {
  EXPECT_THAT(light_findings(pair_of(kLondon, kNewYork, ms(18.7), ms(18.7))), IsEmpty());
}

TEST(Light, PlacesWithoutCoordinatesAreBelieved) {
  EXPECT_THAT(light_findings(pair_of(kLondon, std::nullopt, ms(0), ms(0))), IsEmpty());
}

TEST(Light, RoutersAreCheckedLikeIslands) {
  Map map = pair_of(kLondon, std::nullopt, ms(3), ms(3));
  map.routers = {{"R", kNewYork}};
  map.links[0].ends[1] = 2;
  EXPECT_THAT(light_findings(map).size(), 1);
}

TEST(Connected, EveryPlaceOutOfReachOfTheFirstIsReported) {
  Map map = pair_of({}, {}, ms(1), ms(1));
  map.islands.push_back({"C", "", "", {}, {1e9}, {1e9}});
  map.routers = {{"R", {}}};
  Problems problems("map.toml");
  check_connected(map, {{0, 1}}, {{1, 1}, {2, 1}, {3, 1}, {4, 1}}, problems);
  EXPECT_THAT(texts(problems),
              ElementsAre("map.toml:3:1: islands[2]: disconnected map: no path from A to C; "
                          "add a link that joins C to the rest, or remove it",
                          "map.toml:4:1: routers[0]: disconnected map: no path from A to R; "
                          "add a link that joins R to the rest, or remove it"));
}

TEST(Connected, ARouterMayBeTheOnlyWay) {
  Map map = pair_of({}, {}, ms(1), ms(1));
  map.routers = {{"R", {}}};
  map.links = {{{0, 2}, {ms(1), ms(1)}, {{1e9}, {1e9}}}, {{2, 1}, {ms(1), ms(1)}, {{1e9}, {1e9}}}};
  Problems problems("map.toml");
  check_connected(map, {{0, 2}, {2, 1}}, {{}, {}, {}}, problems);
  EXPECT_TRUE(problems.empty());
}

TEST(Connected, OneIslandAloneIsConnected) {
  Map map;
  map.islands = {{"A", "", "", {}, {1e9}, {1e9}}};
  Problems problems("map.toml");
  check_connected(map, {}, {{1, 1}}, problems);
  EXPECT_TRUE(problems.empty());
}

}  // namespace
}  // namespace cotillion
