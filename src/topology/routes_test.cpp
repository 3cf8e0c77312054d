#include "topology/routes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/random.hpp"
#include "tests/support/topology/maps.hpp"

namespace cotillion {
namespace {

using ::testing::ElementsAre;

PlaceId place(const Map& map, const std::string& name) {
  for (PlaceId id = 0; id < map.place_count(); ++id)
    if (place_name(map, id) == name) return id;
  ADD_FAILURE() << name;
  return 0;
}

double latency_ms(const Map& map, const std::string& from, const std::string& to) {
  return Routes(map).latency(place(map, to), place(map, from)).ms();
}

// "LON→AMS→FRA"
std::string path_text(const Map& map, const Routes& routes, PlaceId from, PlaceId to) {
  std::string text = place_name(map, from);
  for (const LaneId lane : routes.path(to, from)) text += "→" + lane_to(map, lane);
  return text;
}

std::string path_text(const Map& map, const std::string& from, const std::string& to) {
  return path_text(map, Routes(map), place(map, from), place(map, to));
}

// All paths between islands, by name, so that maps whose ids differ can be compared.
std::set<std::string> all_paths(const Map& map) {
  const Routes routes(map);
  std::set<std::string> paths;
  for (IslandId from = 0; from < map.island_count(); ++from)
    for (IslandId to = 0; to < map.island_count(); ++to)
      paths.insert(path_text(map, routes, from, to));
  return paths;
}

// A map written as lines that can be put in any order.
struct Draft {
  std::vector<std::string> islands, links;

  void link(const std::string& a, const std::string& b, const std::string& latency) {
    links.push_back(fmt::format(R"({{ ends = ["{}", "{}"], latency = {} }})", a, b, latency));
  }
  [[nodiscard]] Map read() const {
    std::string names;
    for (const std::string& name : islands) names += fmt::format("{{ name = \"{}\" }},\n", name);
    return testing::map_of(
        fmt::format("payload = \"1GB\"\ndefaults = {{ access = \"1Gbps\", rate = \"1Gbps\" }}\n"
                    "islands = [\n{}]\nlinks = [\n{}]\n",
                    names, fmt::join(links, ",\n")));
  }
};

template <class T>
void shuffle(std::vector<T>& list, Random& random) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[std::size_t(random.between(0, std::int64_t(i) - 1))]);
}

TEST(Routes, NineCitiesHaveThePapersLatencies) {
  const Map map = testing::example_map("nine-cities");
  EXPECT_EQ(latency_ms(map, "WAS", "SIN"), 116.2);
  EXPECT_EQ(latency_ms(map, "SIN", "WAS"), 116.2);
  EXPECT_EQ(latency_ms(map, "HKG", "WAS"), 103.1);
  EXPECT_EQ(latency_ms(map, "NYC", "FRA"), 37.9);
  EXPECT_EQ(latency_ms(map, "LON", "LAX"), 59.7);
  EXPECT_EQ(latency_ms(map, "TYO", "AMS"), 70);
}

TEST(Routes, NineCitiesTakeTheWayThatLightWould) {
  const Map map = testing::example_map("nine-cities");
  EXPECT_EQ(path_text(map, "WAS", "SIN"), "WAS→LAX→SIN");
  EXPECT_EQ(path_text(map, "HKG", "LON"), "HKG→TYO→FRA→LON");
  EXPECT_EQ(path_text(map, "NYC", "FRA"), "NYC→LON→FRA");  // 0.2 ms less than through AMS
}

TEST(Routes, FromAPlaceToItselfIsNoWayAtAll) {
  const Map map = testing::example_map("nine-cities");
  const Routes routes(map);
  EXPECT_EQ(routes.latency(4, 4), Duration{});
  EXPECT_EQ(routes.hops(4, 4), 0);
  EXPECT_TRUE(routes.path(4, 4).empty());
  EXPECT_TRUE(routes.tree(4, {4}).empty());
}

TEST(Routes, TiesGoToFewerHopsThenToTheEarlierName) {
  Draft draft{{"Z", "A", "B", "C"}, {}};
  draft.link("Z", "B", "\"1ms\"");
  draft.link("B", "C", "\"1ms\"");
  draft.link("Z", "A", "\"1ms\"");
  draft.link("A", "C", "\"1ms\"");
  EXPECT_EQ(path_text(draft.read(), "Z", "C"), "Z→A→C");
  draft.link("Z", "C", "\"2ms\"");
  EXPECT_EQ(path_text(draft.read(), "Z", "C"), "Z→C");
}

TEST(Routes, AHopOfNoLengthIsStillAHop) {
  Draft draft{{"A", "B", "C"}, {}};
  draft.link("A", "B", "\"0ms\"");
  draft.link("B", "C", "\"0ms\"");
  draft.link("A", "C", "\"0ms\"");
  EXPECT_EQ(path_text(draft.read(), "A", "C"), "A→C");
}

TEST(Routes, LatenciesMayDifferByDirection) {
  Draft draft{{"A", "B", "C"}, {}};
  draft.link("A", "B", R"(["10ms", "30ms"])");
  draft.link("B", "C", R"(["1ms", "5ms"])");
  draft.link("A", "C", "\"12ms\"");
  const Map map = draft.read();
  EXPECT_EQ(latency_ms(map, "A", "C"), 11);
  EXPECT_EQ(path_text(map, "A", "C"), "A→B→C");
  EXPECT_EQ(latency_ms(map, "C", "A"), 12);
  EXPECT_EQ(path_text(map, "C", "A"), "C→A");
  EXPECT_EQ(latency_ms(map, "B", "A"), 13);
}

TEST(Routes, StartAtAnAggregatorsPlaceEvenIfThatIsARouter) {
  const Map map = testing::map_of(R"(payload = "1GB"
    defaults = { access = "1Gbps", rate = "1Gbps" }
    islands = [{ name = "A" }, { name = "B" }]
    routers = [{ name = "R" }]
    links = [{ ends = ["A", "R"], latency = "1ms" }, { ends = ["R", "B"], latency = "2ms" }]
    aggregators = [{ at = "R", serves = ["A", "B"] }])");
  EXPECT_EQ(latency_ms(map, "R", "B"), 2);
  EXPECT_EQ(path_text(map, "A", "B"), "A→R→B");
}

TEST(Routes, DoNotDependOnTheOrderOfLinesInTheFile) {
  // A grid of equal links is full of ties: every step towards the other corner is shortest.
  Draft draft;
  const auto name = [](int x, int y) { return fmt::format("{}{}", char('A' + x), y); };
  for (int x = 0; x < 4; ++x)
    for (int y = 0; y < 3; ++y) {
      draft.islands.push_back(name(x, y));
      if (x > 0) draft.link(name(x - 1, y), name(x, y), "\"1ms\"");
      if (y > 0) draft.link(name(x, y - 1), name(x, y), "\"1ms\"");
    }
  const std::set<std::string> expected = all_paths(draft.read());
  Random random(1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    shuffle(draft.islands, random);
    shuffle(draft.links, random);
    ASSERT_EQ(all_paths(draft.read()), expected) << "shuffle " << repeat;
  }
}

TEST(Routes, DoNotDependOnWhichEndOfALinkIsNamedFirst) {
  Draft forth{{"A", "B", "C", "D"}, {}}, back = forth;
  for (const auto& [a, b] : {std::pair("A", "B"), {"B", "D"}, {"A", "C"}, {"C", "D"}}) {
    forth.link(a, b, "\"1ms\"");
    back.link(b, a, "\"1ms\"");
  }
  EXPECT_EQ(all_paths(forth.read()), all_paths(back.read()));
}

TEST(Routes, ATreeIsTheUnionOfThePathsAndGivesEachPlaceOneParent) {
  const Map map = testing::example_map("nine-cities");
  const Routes routes(map);
  for (IslandId from = 0; from < map.island_count(); ++from) {
    std::vector<PlaceId> receivers;
    std::set<LaneId> united;
    for (IslandId to = 0; to < map.island_count(); ++to) {
      if (to == from || to % 3 == 1) continue;
      receivers.push_back(to);
      const auto path = routes.path(to, from);
      united.insert(path.begin(), path.end());
    }
    const auto tree = routes.tree(from, receivers);
    EXPECT_EQ(tree, std::vector<LaneId>(united.begin(), united.end()));
    std::set<std::string> heads;
    for (const LaneId lane : tree) heads.insert(lane_to(map, lane));
    EXPECT_EQ(heads.size(), tree.size()) << "a place is entered by two lanes";
    EXPECT_FALSE(heads.contains(place_name(map, from)));
  }
}

TEST(Routes, WalkingBackStopsWhenToldTo) {
  const Map map = testing::example_map("nine-cities");
  std::vector<std::string> seen;
  Routes(map).walk_back(place(map, "LON"), place(map, "HKG"), [&](LaneId lane) {
    seen.push_back(lane_name(map, lane));
    return seen.size() < 2;
  });
  EXPECT_THAT(seen, ElementsAre("FRA→LON", "TYO→FRA"));
}

// A connected map with asymmetric, often equal and sometimes zero latencies, and routers.
Map random_places(std::uint64_t seed) {
  Random random(seed);
  Map map;
  const int islands = int(random.between(1, 9)), routers = int(random.between(0, 4));
  // Names in an order of their own, so that an id and a name never stand for each other.
  std::vector<std::string> names;
  for (int i = 0; i < islands + routers; ++i) names.push_back(fmt::format("P{:02}", i));
  shuffle(names, random);
  for (int i = 0; i < islands; ++i) map.islands.push_back({names[i], "", "", {}, {1e9}, {1e9}});
  for (int i = islands; i < islands + routers; ++i) map.routers.push_back({names[i], {}});
  std::set<std::pair<int, int>> joined;
  const auto link = [&](PlaceId a, PlaceId b) {
    if (a == b || !joined.emplace(std::minmax<int>(a, b)).second) return;
    map.links.push_back({{a, b}, {{random.between(0, 4)}, {random.between(0, 4)}}, {{1}, {1}}});
  };
  for (int i = 1; i < map.place_count(); ++i) link(PlaceId(random.between(0, i - 1)), PlaceId(i));
  for (int k = 0; k < 2 * map.place_count(); ++k)
    link(PlaceId(random.between(0, map.place_count() - 1)),
         PlaceId(random.between(0, map.place_count() - 1)));
  return map;
}

// (latency, hops) of every pair by Floyd and Warshall: distance[from][to].
using Length = std::pair<std::int64_t, int>;
std::vector<std::vector<Length>> floyd_warshall(const Map& map) {
  const int n = map.place_count();
  std::vector<std::vector<Length>> distance(n, std::vector<Length>(n, {INT32_MAX, 0}));
  for (int i = 0; i < n; ++i) distance[i][i] = {0, 0};
  for (const Link& link : map.links) {
    distance[link.ends[0]][link.ends[1]] = {link.latency[0].ps, 1};
    distance[link.ends[1]][link.ends[0]] = {link.latency[1].ps, 1};
  }
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const Length& first = distance[i][k];
        const Length& second = distance[k][j];
        distance[i][j] =
            std::min(distance[i][j], {first.first + second.first, first.second + second.second});
      }
  return distance;
}

TEST(Routes, AgreeWithFloydAndWarshallOnRandomMaps) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Map map = random_places(seed);
    const Routes routes(map);
    const auto distance = floyd_warshall(map);
    for (IslandId from = 0; from < map.island_count(); ++from)
      for (PlaceId to = 0; to < map.place_count(); ++to) {
        ASSERT_EQ(Length(routes.latency(to, from).ps, routes.hops(to, from)), distance[from][to])
            << "seed " << seed << ", from " << from << " to " << to;
        Length walked{0, 0};
        std::string at = place_name(map, from);
        for (const LaneId lane : routes.path(to, from)) {
          ASSERT_EQ(lane_from(map, lane), at) << "seed " << seed;
          at = lane_to(map, lane);
          walked = {walked.first + lane_latency(map, lane).ps, walked.second + 1};
        }
        ASSERT_EQ(at, place_name(map, to)) << "seed " << seed;
        ASSERT_EQ(walked, distance[from][to]) << "seed " << seed;
      }
  }
}

TEST(Routes, OfAllBestPredecessorsTheEarliestNameWinsOnRandomMaps) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Map map = random_places(seed);
    const Routes routes(map);
    const auto distance = floyd_warshall(map);
    for (IslandId from = 0; from < map.island_count(); ++from)
      for (PlaceId to = 0; to < map.place_count(); ++to) {
        if (to == from) continue;
        std::set<std::string> best;
        for (std::size_t k = 0; k < map.links.size(); ++k)
          for (int direction = 0; direction < 2; ++direction) {
            const Link& link = map.links[k];
            const Length& before = distance[from][link.ends[direction]];
            if (link.ends[1 - direction] == to && Length(before.first + link.latency[direction].ps,
                                                         before.second + 1) == distance[from][to])
              best.insert(place_name(map, link.ends[direction]));
          }
        ASSERT_EQ(lane_from(map, routes.path(to, from).back()), *best.begin()) << "seed " << seed;
      }
  }
}

TEST(RoutesDeathTest, AMapInPiecesEndsTheProgram) {
  Map map;
  map.islands = {{"A", "", "", {}, {1e9}, {1e9}}, {"B", "", "", {}, {1e9}, {1e9}}};
  EXPECT_DEATH(Routes{map}, "internal error");
}

}  // namespace
}  // namespace cotillion
