#include "topology/generate_map.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/fingerprint.hpp"
#include "topology/map_check.hpp"
#include "topology/map_file.hpp"
#include "topology/map_writer.hpp"

namespace cotillion {
namespace {

TEST(GenerateMap, TheSameSeedGivesTheSameBytesOnEveryMachine) {
  // A golden fingerprint: when it differs on some machine, so would every plan of such a map.
  EXPECT_EQ(fingerprint(write_map(generate_map(200, 7))),
            "sha256:9358c72c39f3b1c6116c75bdb5b78d871173b374fca7be08238944b071721829");
  EXPECT_NE(write_map(generate_map(20, 7)), write_map(generate_map(20, 8)));
}

TEST(GenerateMap, WhatIsMadeIsSound) {
  for (const int islands : {1, 2, 3, 4, 5, 9, 50})
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const std::string text = write_map(generate_map(islands, seed));
      const auto map = read_map(text, "generated.toml");
      ASSERT_TRUE(map.has_value()) << islands << " " << seed << to_text(map.error()[0]);
      EXPECT_EQ(map->island_count(), islands);
    }
}

TEST(GenerateMap, TwoHundredIslandsLayAboutEightHundredLinks) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Map map = generate_map(200, seed);
    EXPECT_GE(map.links.size(), 750u);
    EXPECT_LE(map.links.size(), 850u);
    std::vector<int> laid(200, 0);
    for (const Link& link : map.links) ++laid[link.ends[0]];
    for (const int count : laid) EXPECT_TRUE(count >= 3 && count <= 5) << count;
  }
}

TEST(GenerateMap, ALargeMapIsSoundToo) {
  EXPECT_TRUE(read_map(write_map(generate_map(1000, 1)), "m").has_value());
  EXPECT_EQ(generate_map(kGeneratedIslandsMax, 1).islands.back().name, "I4096");
}

TEST(GenerateMap, LatenciesAreThoseOfFibre) {
  const Map map = generate_map(100, 3);
  double shortest = 1e9, longest = 0;
  for (const Link& link : map.links) {
    const double km = distance_km(*map.islands[IslandId(int(link.ends[0]))].coordinates,
                                  *map.islands[IslandId(int(link.ends[1]))].coordinates);
    EXPECT_NEAR(link.latency[0].ms(), km * 1.5 / 204 + 0.1, 0.0051);
    EXPECT_EQ(link.latency[0].ps % 10'000'000, 0) << "a multiple of 10 µs";
    shortest = std::fmin(shortest, link.latency[0].ms());
    longest = std::fmax(longest, link.latency[0].ms());
  }
  EXPECT_LT(shortest, 2);
  EXPECT_GT(longest, 30) << "some links cross an ocean";
}

TEST(GenerateMap, IslandsLieInRegionsAndLinksDifferInRate) {
  const Map map = generate_map(200, 5);
  std::set<std::string> regions;
  std::set<double> rates;
  for (const Island& island : map.islands) regions.insert(island.region);
  for (const Link& link : map.links) rates.insert(link.rate[0].gbps());
  EXPECT_GE(regions.size(), 5u);
  EXPECT_EQ(rates, (std::set<double>{10, 50, 100}));
  EXPECT_EQ(map.islands[0].name, "I001");
}

TEST(GenerateMap, OptionsReachTheMap) {
  const Map map = generate_map(4, 1, {{5}, {7e9}, {9}});
  EXPECT_EQ(map.payload, Bytes{5});
  EXPECT_EQ(map.islands[3].up.gbps(), 7);
  EXPECT_EQ(map.aggregators[2].spec.memory, Bytes{9});
}

}  // namespace
}  // namespace cotillion
