#include "topology/doublezero_network.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/topology/imports.hpp"

namespace cotillion {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr testing::Importing doublezero_import{ImportFormat::kDoublezero, "f.json"};

std::string link_json(const std::string& a, const std::string& z, const std::string& more) {
  return fmt::format(R"({{"code": "{0}:{1}", "side_a_name": "{0}", "side_z_name": "{1}", {2}}})", a,
                     z, more);
}

const std::string kTenGigabits =
    R"("bandwidth": 10000000000, "delay_ns": 32200000, "jitter_ns": 1000000, "mtu": 9000)";

TEST(DoublezeroNetwork, AnArrayOfLinksIsRead) {
  const auto [map, notes] = doublezero_import(
      "[" + link_json("nyc-dz001", "lon-dz001", kTenGigabits + R"(, "status": "Activated")") + "]");
  EXPECT_THAT(island_names(map), ElementsAre("nyc-dz001", "lon-dz001"));
  EXPECT_EQ(map.links[0].latency[0], Duration{32'200'000'000});
  EXPECT_EQ(map.links[0].rate[0].gbps(), 10);
  EXPECT_THAT(notes, ElementsAre("delay_ns taken as one way; --round-trip halves it",
                                 "jitter of up to 1.0 ms is not in the map: give it to plan as "
                                 "--slack"));
}

TEST(DoublezeroNetwork, AnObjectMayHoldTheList) {
  const std::string one = link_json("A", "B", kTenGigabits);
  EXPECT_EQ(
      doublezero_import(R"({"version": {"major": 3}, "data": [)" + one + "]}").map.links.size(),
      1u);
  EXPECT_EQ(
      doublezero_import(R"({"devices": [{"code": "A"}], "links": [)" + one + "]}").map.links.size(),
      1u);
}

TEST(DoublezeroNetwork, LinksThatAreNotActiveAreLeftOutAndNamed) {
  const auto [map, notes] =
      doublezero_import("[" + link_json("A", "B", kTenGigabits + R"(,"status":"activated")") + "," +
                        link_json("B", "C", kTenGigabits + R"(,"status":"ACTIVE")") + "," +
                        link_json("A", "C", R"("status": "soft-drained")") + "," +
                        link_json("A", "D", kTenGigabits + R"(,"status":"down")") + "]");
  EXPECT_THAT(island_names(map), ElementsAre("A", "B", "C"));
  EXPECT_EQ(map.links.size(), 2u);
  EXPECT_THAT(notes, Contains("2 links not active left out: A–C (soft-drained), A–D (down)"));
}

TEST(DoublezeroNetwork, ALinkWithoutStatusIsTakenAsActive) {
  EXPECT_THAT(doublezero_import("[" + link_json("A", "B", kTenGigabits) + "]").notes,
              Contains("1 link without status taken as active"));
}

TEST(DoublezeroNetwork, NamesAndNumbersComeInSeveralForms) {
  const Map map = doublezero_import(R"([
  {"side_a": "A", "side_z": "B", "bandwidth": "10Gbps", "delay_ns": "1500000"},
  {"side_a": "B", "side_z": "C", "bandwidth": "25000000000", "delay_ns": 2.5e6},
  {"side_a_name": "C", "side_a": "key", "side_z": "D", "bandwidth": 1e11, "delay_ns": 1}])")
                      .map;
  EXPECT_THAT(island_names(map), ElementsAre("A", "B", "C", "D"));
  EXPECT_EQ(map.links[0].rate[0].gbps(), 10);
  EXPECT_EQ(map.links[0].latency[0].ms(), 1.5);
  EXPECT_EQ(map.links[1].rate[0].gbps(), 25);
  EXPECT_EQ(map.links[1].latency[0].ms(), 2.5);
  EXPECT_EQ(map.links[2].latency[0], Duration{1000});
}

TEST(DoublezeroNetwork, RoundTripsAreHalvedOnRequest) {
  ImportOptions options;
  options.round_trip = true;
  const auto [map, notes] =
      doublezero_import("[" + link_json("A", "B", kTenGigabits) + "]", options);
  EXPECT_EQ(map.links[0].latency[0].ms(), 16.1);
  EXPECT_THAT(notes, Contains("delay_ns taken as the round trip, halved"));
}

TEST(DoublezeroNetwork, AMistakeIsFoundOnTheLineOfItsLink) {
  const auto result = import_map("[\n  " + link_json("A", "B", kTenGigabits) +
                                     ",\n  {\"side_a_name\": \"{not\\\"{ this\",\n   "
                                     "\"side_z_name\": \"C\", \"bandwidth\": 1}]",
                                 "f.json", ImportFormat::kDoublezero);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(to_text(result.error()[0]),
            "f.json:3:3: links[1].delay_ns: missing field 'delay_ns'; give a number: "
            "\"delay_ns\": 32200000");
}

TEST(DoublezeroNetwork, NestedFieldsOfALinkAreSkipped) {
  const Map map =
      doublezero_import("[" +
                        link_json("A", "B",
                                  kTenGigabits + R"(, "x": {"side_a_name": "Z", "y": [1, [2]]})"
                                                 R"(, "flags": [{"status": "down"}], "n": null)") +
                        "]")
          .map;
  EXPECT_THAT(island_names(map), ElementsAre("A", "B"));
}

}  // namespace
}  // namespace cotillion
