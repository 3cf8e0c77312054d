#include "topology/gml_network.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/topology/imports.hpp"
#include "topology/gml_text.hpp"
#include "topology/map_check.hpp"

namespace cotillion {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr testing::Importing gml_import{ImportFormat::kGml, "f.gml"};

// A graph of London (0), Paris (1) and, behind it, New York (2).
std::string graph(const std::string& more = "") {
  return R"(# three towns
graph [
  directed 0
  Network "Towns"
  node [ id 0 label "London" Longitude -0.13 Latitude 51.51 Internal 1 ]
  node [ id 1 label "Paris" Country "France" ]
  node [ id 2 label "New York" graphics [ x 1.5 y [ deeper 2 ] ] ]
  edge [ source 0 target 1 id "e1" distance 344.0 ]
  edge [ source 1 target 2 distance 5837 ]
)" + more +
         "]\n";
}

TEST(GmlNetwork, NodesAreIslandsAndEdgesLinksOfTheirLength) {
  const auto [map, notes] = gml_import(graph());
  EXPECT_EQ(map.name, "Towns");
  EXPECT_THAT(island_names(map), ElementsAre("London", "Paris", "New-York"));
  EXPECT_EQ(map.islands[0].coordinates->latitude, 51.51);
  EXPECT_EQ(map.islands[0].coordinates->longitude, -0.13);
  EXPECT_FALSE(map.islands[1].coordinates);
  EXPECT_EQ(map.islands[0].label, "");
  EXPECT_EQ(map.islands[2].label, "New York");
  ASSERT_EQ(map.links.size(), 2u);
  // 344 × 0.0085 + 4 = 6.924 ms; 5837 × 0.0085 + 4 = 53.6145 ms
  EXPECT_EQ(map.links[0].latency[0], Duration{6'924'000'000});
  EXPECT_EQ(map.links[1].latency[1], Duration{53'614'500'000});
  EXPECT_EQ(map.links[0].rate[0].gbps(), 100);
  EXPECT_EQ(map.edge.memory, Bytes{32'000'000'000});
  EXPECT_THAT(notes, Contains(HasSubstr("0.0085 ms/km × distance + 4 ms")));
}

TEST(GmlNetwork, TheModelOfLatencyAndTheRateAreOptions) {
  ImportOptions options;
  options.ms_per_km = 0.01;
  options.fixed_ms = 0;
  options.rate = {10e9};
  const Map map = gml_import(graph(), options).map;
  EXPECT_EQ(map.links[0].latency[0].ms(), 3.44);
  EXPECT_EQ(map.links[0].rate[1].gbps(), 10);
}

TEST(GmlNetwork, LatenciesAreRoundedToANanosecond) {
  const Map map = gml_import(graph("edge [ source 0 target 2 distance 1234.5678901 ]\n")).map;
  // 1234.5678901 × 0.0085 + 4 = 14.49382706585
  EXPECT_EQ(map.links[2].latency[0], Duration{14'493'827'000});
}

TEST(GmlNetwork, ADuplicateEdgeKeepsTheShorterOnce) {
  const auto [map, notes] = gml_import(
      graph("edge [ source 1 target 0 distance 300 ]\nedge [ source 0 target 1 distance 300 ]\n"));
  ASSERT_EQ(map.links.size(), 2u);
  EXPECT_EQ(map.links[0].latency[0].ms(), 6.55);
  EXPECT_EQ(map.links[0].rate[0].gbps(), 100) << "the same link twice, not two fibres";
  EXPECT_THAT(notes, Contains("Paris–London: 3 parallel links; 2 of the lowest latency counted "
                              "once; kept 6.55 ms at 100 Gbps, left out 6.924 ms at 100 Gbps"));
}

TEST(GmlNetwork, ALoopIsLeftOutAndSaidSo) {
  const auto [map, notes] = gml_import(graph("edge [ source 1 target 1 ]\n"));
  EXPECT_EQ(map.links.size(), 2u);
  EXPECT_THAT(notes, Contains("1 link from a place to itself left out"));
}

TEST(GmlNetwork, WithoutADistanceTheCoordinatesGiveIt) {
  const auto [map, notes] =
      gml_import(graph("node [ id 3 label \"Rome\" Longitude 12.5 Latitude 41.9 ]\n"
                       "edge [ source 0 target 3 ]\n"));
  const double km = distance_km({51.51, -0.13}, {41.9, 12.5});
  EXPECT_NEAR(map.links[2].latency[0].ms(), 0.0085 * km + 4, 1e-6);
  EXPECT_THAT(notes, Contains(HasSubstr("1 edge without distance: the great circle")));
}

TEST(GmlNetwork, WhatIsCutOffIsLeftOutAndNamed) {
  const auto [map, notes] =
      gml_import(graph("node [ id 7 label \"Rome\" ] node [ id 8 label \"Oslo\" ]\n"
                       "edge [ source 7 target 8 distance 2000 ]\n"));
  EXPECT_EQ(map.island_count(), 3);
  EXPECT_EQ(map.links.size(), 2u);
  EXPECT_THAT(notes, Contains("2 places not connected to the largest part left out: Rome, Oslo"));
}

TEST(GmlNetwork, StatedCapacitiesAreNotUsedAndThatIsSaid) {
  const auto notes =
      gml_import(graph("edge [ source 0 target 2 distance 9 capacity 1000000000.0 ]\n")).notes;
  EXPECT_THAT(notes, Contains("every link has 100 Gbps (--rate); 1 of 3 edges state a capacity, "
                              "which is not used"));
}

TEST(GmlNetwork, CharacterReferencesAreDecoded) {
  EXPECT_EQ(decode_gml("Z&#252;rich &amp; &quot;co&quot;"), "Zürich & \"co\"");
  EXPECT_EQ(decode_gml("&#8364;&#128512;"), "€😀");
  EXPECT_EQ(decode_gml("a & b; &unknown; &#; &#99999999;"), "a & b; &unknown; &#; &#99999999;");
  EXPECT_EQ(gml_import(graph("node [ id 3 label \"Z&#252;rich\" ]\n"
                             "edge [ source 3 target 1 distance 490 ]\n"))
                .map.islands[3]
                .name,
            "Zürich");
}

TEST(GmlNetwork, EdgesMayComeBeforeTheirNodesAndKeysInAnyOrder) {
  const Map map = gml_import(
                      "graph [ edge [ target 1 distance 100 source 0 ]\n"
                      "node [ label \"b\" id 1 ] node [ id 0 ] ]")
                      .map;
  EXPECT_THAT(island_names(map), ElementsAre("b", "0"));
  EXPECT_EQ(map.name, "f");
}

}  // namespace
}  // namespace cotillion
