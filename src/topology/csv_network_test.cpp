#include "topology/csv_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/topology/imports.hpp"

namespace cotillion {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr testing::Importing csv_import{ImportFormat::kCsv, "f.csv"};

const std::string kCsvHeader = "device1,device2,latency,bandwidth\n";

TEST(CsvNetwork, TheFormWithDevicesIsRead) {
  const auto [map, notes] = csv_import(
      "device1,device2,latency,bandwidth,uptime,shared\n"
      "LON1,PAR1,3.25,10,0.99,NA\r\n\n"
      "PAR1,ROM1,0.5,2.5,0.99,NA");
  EXPECT_THAT(island_names(map), ElementsAre("LON1", "PAR1", "ROM1"));
  ASSERT_EQ(map.links.size(), 2u);
  EXPECT_EQ(map.links[0].latency[0], Duration{3'250'000'000});
  EXPECT_EQ(map.links[0].rate[0].gbps(), 10);
  EXPECT_EQ(map.links[1].rate[1], BitsPerSecond{2.5e9});
  EXPECT_THAT(notes, ElementsAre("not used: the columns uptime, shared"));
}

TEST(CsvNetwork, TheFormWithOperatorsIsRead) {
  const Map map = csv_import(
                      "\"Start\",\"End\",\"Cost\",\"Bandwidth\",\"Operator1\",\"Operator2\"\n"
                      "\"PRG4\",\"FRA4\",2.797,10,\"k\",NA\n")
                      .map;
  EXPECT_THAT(island_names(map), ElementsAre("PRG4", "FRA4"));
  EXPECT_EQ(map.links[0].latency[1], Duration{2'797'000'000});
  EXPECT_EQ(map.name, "f");
}

TEST(CsvNetwork, ColumnsMayComeInAnyOrderAndCase) {
  const Map map = csv_import("Bandwidth,LATENCY,device2,Device1\n100,7,B,A\n").map;
  EXPECT_THAT(island_names(map), ElementsAre("A", "B"));
  EXPECT_EQ(map.links[0].latency[0].ms(), 7);
}

TEST(CsvNetwork, AQuotedFieldMayHoldCommasAndQuotationMarks) {
  const Map map = csv_import(kCsvHeader + "\"Paris, \"\"TX\"\"\" , B , 1 , 10\n").map;
  EXPECT_EQ(map.islands[0].name, "Paris-TX");
  EXPECT_EQ(map.islands[0].label, "Paris, \"TX\"");
}

TEST(CsvNetwork, OfParallelLinksTheFastestStays) {
  const auto [map, notes] = csv_import(kCsvHeader + "A,B,5,100\nB,A,4,10\nA,B,6,50\n");
  ASSERT_EQ(map.links.size(), 1u);
  EXPECT_EQ(map.links[0].latency[0].ms(), 4);
  EXPECT_EQ(map.links[0].rate[0].gbps(), 10);
  EXPECT_THAT(notes, ElementsAre("B–A: 3 parallel links; kept 4 ms at 10 Gbps, left out 5 ms at "
                                 "100 Gbps, 6 ms at 50 Gbps"));
}

TEST(CsvNetwork, ParallelLinksOfOneLatencyAddTheirRates) {
  const auto [map, notes] = csv_import(kCsvHeader + "A,B,4,100\nB,A,4,10\n");
  ASSERT_EQ(map.links.size(), 1u);
  EXPECT_EQ(map.links[0].rate[0].gbps(), 110);
  EXPECT_THAT(notes, Contains(HasSubstr("the rates of 2 with the lowest latency added up")));
}

TEST(CsvNetwork, RoundTripsAreHalvedOnRequest) {
  ImportOptions options;
  options.round_trip = true;
  const auto [map, notes] = csv_import(kCsvHeader + "A,B,5,10\n", options);
  EXPECT_EQ(map.links[0].latency[0].ms(), 2.5);
  EXPECT_THAT(notes, ElementsAre("latencies taken as round trips, halved"));
}

TEST(CsvNetwork, AnOrdinaryFileLeavesNothingToSay) {
  EXPECT_THAT(csv_import(kCsvHeader + "A,B,5,10\n").notes, IsEmpty());
}

}  // namespace
}  // namespace cotillion
