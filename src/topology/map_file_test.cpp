#include "topology/map_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/topology/maps.hpp"

namespace cotillion {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::map_of;

// Two lines that every map here begins with; what a test is about follows on line 3.
const std::string kStart =
    "payload = \"1GB\"\ndefaults = { access = \"20Gbps\", rate = \"100Gbps\" }\n";

std::string island(const std::string& fields) {
  return kStart + "islands = [{ " + fields + " }]\n";
}

// Islands A and B; the link is on line 4.
std::string link_toml(const std::string& fields) {
  return kStart + "islands = [{ name = \"A\" }, { name = \"B\" }]\nlinks = [{ " + fields + " }]\n";
}

std::string pair_with(const std::string& more) {
  return link_toml(R"(ends = ["A", "B"], latency = "1ms")") + more;
}

// Islands A and B, with the router R between them.
std::string aggregators(const std::string& list) {
  return kStart + R"(islands = [{ name = "A" }, { name = "B" }]
routers = [{ name = "R" }]
links = [{ ends = ["A", "R"], latency = "1ms" }, { ends = ["R", "B"], latency = "1ms" }]
aggregators = [)" +
         list + "]\n";
}

std::vector<std::string> mistakes(const std::string& toml) {
  const auto map = read_map(toml, "m");
  std::vector<std::string> texts;
  if (!map)
    for (const Diagnostic& diagnostic : map.error()) texts.push_back(to_text(diagnostic));
  return texts;
}

// The one mistake in a file; the test says so if there are more.
std::string mistake(const std::string& toml) {
  const auto all = mistakes(toml);
  return all.size() == 1 ? all[0]
                         : fmt::format("{} mistakes: {}", all.size(), fmt::join(all, "\n"));
}

// What is read --------------------------------------------------------------------------

TEST(MapFile, NineCitiesAreReadAsWritten) {
  const Map map = testing::example_map("nine-cities");
  EXPECT_EQ(map.name, "Nine cities");
  EXPECT_THAT(map.source, HasSubstr("Shah and Blier"));
  EXPECT_EQ(map.payload, Bytes{1'000'000'000});
  EXPECT_THAT(island_names(map),
              ElementsAre("TYO", "HKG", "SIN", "LAX", "NYC", "WAS", "LON", "AMS", "FRA"));
  EXPECT_EQ(map.islands[6].label, "London");
  EXPECT_EQ(map.islands[6].region, "Europe");
  EXPECT_EQ(map.islands[6].coordinates->latitude, 51.51);
  EXPECT_EQ(map.islands[6].coordinates->longitude, -0.13);
  ASSERT_EQ(map.links.size(), 14u);
  EXPECT_EQ(lane_name(map, lane_of_link(3, 0)), "SIN→LAX");
  EXPECT_EQ(map.links[3].latency[0], Duration{86'700'000'000});
  EXPECT_EQ(map.links[3].rate[0].gbps(), 100);
  EXPECT_EQ(map.aggregators.size(), 9u);
}

TEST(MapFile, OneValueServesBothDirectionsOfALink) {
  const Map map = map_of(link_toml(R"(ends = ["A", "B"], latency = "1.5ms", rate = "40Gbps")"));
  EXPECT_EQ(map.links[0].latency[0], Duration{1'500'000'000});
  EXPECT_EQ(map.links[0].latency[1], Duration{1'500'000'000});
  EXPECT_EQ(map.links[0].rate[0].gbps(), 40);
  EXPECT_EQ(map.links[0].rate[1].gbps(), 40);
}

TEST(MapFile, TwoValuesAreThereAndBackInTheOrderOfTheEnds) {
  const Map map = map_of(
      link_toml(R"(ends = ["B", "A"], latency = ["1ms", "2ms"], rate = ["10Gbps", "20Gbps"])"));
  const Link& both = map.links[0];
  EXPECT_EQ(place_name(map, both.ends[0]), "B");
  EXPECT_EQ(both.latency[0].ms(), 1);
  EXPECT_EQ(both.latency[1].ms(), 2);
  EXPECT_EQ(both.rate[0].gbps(), 10);
  EXPECT_EQ(both.rate[1].gbps(), 20);
}

TEST(MapFile, AccessIsOneRateOrARateUpAndARateDown) {
  const Island one = map_of(island(R"(name = "A", access = "5Gbps")")).islands[0];
  EXPECT_EQ(one.up.gbps(), 5);
  EXPECT_EQ(one.down.gbps(), 5);
  const Island two =
      map_of(island(R"(name = "A", access = { up = "1Gbps", down = "8Gbps" })")).islands[0];
  EXPECT_EQ(two.up.gbps(), 1);
  EXPECT_EQ(two.down.gbps(), 8);
}

TEST(MapFile, DefaultsFillWhatIslandsAndLinksLeaveOut) {
  const Map map = map_of(pair_with(""));
  EXPECT_EQ(map.islands[0].up.gbps(), 20);
  EXPECT_EQ(map.links[0].rate[1].gbps(), 100);
}

TEST(MapFile, WithoutDefaultsEachIslandAndLinkStatesItsRate) {
  EXPECT_THAT(
      mistakes("payload = \"1GB\"\nislands = [{ name = \"A\" }, { name = \"B\" }]\n"
               "links = [{ ends = [\"A\", \"B\"], latency = \"1ms\" }]\n"),
      ElementsAre(
          "m:2:12: islands[0].access: missing field 'access'; "
          "write for example access = \"20Gbps\"",
          "m:2:28: islands[1].access: missing field 'access'; "
          "write for example access = \"20Gbps\"",
          "m:3:10: links[0].rate: missing field 'rate'; write for example rate = \"100Gbps\""));
}

TEST(MapFile, ARouterIsAPlaceAfterTheIslandsAndHasNoEdge) {
  const Map map = map_of(aggregators(""));
  EXPECT_EQ(place_name(map, 2), "R");
  EXPECT_EQ(map.aggregators.size(), 2u);
}

TEST(MapFile, AnIslandAloneIsAMap) {
  const Map map = map_of(island("name = \"A\""));
  EXPECT_EQ(map.island_count(), 1);
  EXPECT_TRUE(map.links.empty());
}

TEST(MapFile, EveryIslandHasAnEdgeOfTheCommonKindUnlessToldOtherwise) {
  const Map map = map_of(pair_with("edge = { memory = \"32GB\" }\n"));
  ASSERT_EQ(map.aggregators.size(), 2u);
  EXPECT_EQ(map.aggregators[1].place, 1);
  EXPECT_THAT(map.aggregators[1].serves, ElementsAre(IslandId(1)));
  EXPECT_EQ(map.aggregators[1].spec, map.edge);
  EXPECT_EQ(map.edge, (EdgeSpec{{32'000'000'000}, {8192}, {8192}, {0}}));
}

TEST(MapFile, ASlotIsAsWideAsTheChunkUnlessStated) {
  EXPECT_EQ(map_of(pair_with("edge = { chunk = \"1KiB\" }\n")).edge.slot, Bytes{1024});
  const EdgeSpec wide = map_of(pair_with("edge = { slot = \"16KiB\", framing = \"78B\" }\n")).edge;
  EXPECT_EQ(wide.chunk, Bytes{8192});
  EXPECT_EQ(wide.slot, Bytes{16384});
  EXPECT_EQ(wide.framing, Bytes{78});
}

TEST(MapFile, TheResendStoreIs64MiBUnlessStated) {
  EXPECT_EQ(map_of(pair_with("edge = { memory = \"1GB\" }\n")).edge.resend, Bytes{64 << 20});
  const Map map = map_of(pair_with("edge = { resend = \"1GiB\" }\n"));
  EXPECT_EQ(map.edge.resend, Bytes{1 << 30});
  EXPECT_EQ(map.aggregators[1].spec.resend, Bytes{1 << 30});
  EXPECT_EQ(map.edge.memory, Bytes{0});  // it is no part of M
  EXPECT_THAT(mistake(pair_with("edge = { resend = 5 }\n")), HasSubstr("resend"));
}

TEST(MapFile, AnIslandCanBeWithoutAnEdge) {
  const Map map = map_of(island("name = \"A\", edge = false"));
  EXPECT_TRUE(map.aggregators.empty());
  EXPECT_EQ(map_of(island("name = \"A\", edge = true")).aggregators.size(), 1u);
}

TEST(MapFile, AnAggregatorAtAnIslandServesItUnlessItSaysWhom) {
  const Map map = map_of(aggregators(R"({ at = "A", memory = "8GB" })"));
  EXPECT_THAT(map.aggregators[0].serves, ElementsAre(IslandId(0)));
  EXPECT_EQ(map.aggregators[0].spec.memory, Bytes{8'000'000'000});
  EXPECT_EQ(map.aggregators.size(), 2u) << "B has its own by default";
}

TEST(MapFile, AnAggregatorAtARouterSharesItsMemoryAmongThoseItServes) {
  const Map map = map_of(aggregators(R"({ at = "R", serves = ["B", "A"], memory = "8GB" })"));
  ASSERT_EQ(map.aggregators.size(), 1u);
  EXPECT_EQ(map.aggregators[0].place, 2);
  EXPECT_THAT(map.aggregators[0].serves, ElementsAre(IslandId(0), IslandId(1)));
  EXPECT_EQ(memory_per_island(map.aggregators[0]), Bytes{4'000'000'000});
}

// What is refused -----------------------------------------------------------------------

TEST(MapFile, AllMistakesOfAFileAreReportedAtOnceInTheOrderOfTheFile) {
  EXPECT_THAT(mistakes("links = [{ ends = [\"A\", \"X9\"], latency = \"fast\" }]\n"
                       "islands = [\n  { name = \"A\", access = 20 },\n  { nam = \"B\" },\n]\n"
                       "payload = \"0B\"\ncolour = 3\n"),
              ElementsAre(HasSubstr("m:1:10: links[0].rate: missing field 'rate'"),
                          HasSubstr("m:1:19: links[0].ends: unknown island or router 'X9'"),
                          HasSubstr("m:1:42: links[0].latency: \"fast\" is not a time"),
                          HasSubstr("m:3:26: islands[0].access: rate 20 has no unit"),
                          HasSubstr("m:4:3: islands[1].name: missing field 'name'"),
                          HasSubstr("m:4:3: islands[1].access: missing field 'access'"),
                          HasSubstr("m:4:5: islands[1].nam: unknown field 'nam'"),
                          HasSubstr("m:6:11: payload: zero payload"),
                          HasSubstr("m:7:1: colour: unknown field 'colour'")));
}

TEST(MapFile, AnEmptyFileLacksPayloadAndIslands) {
  EXPECT_THAT(mistakes(""), ElementsAre(HasSubstr("m:1:1: payload: missing field 'payload'"),
                                        HasSubstr("m:1:1: islands: missing field 'islands'")));
  EXPECT_THAT(mistake(kStart + "islands = []\n"),
              HasSubstr("m:3:11: islands: a map without islands"));
}

TEST(MapFile, AMistakeInTheSyntaxIsReportedAlone) {
  EXPECT_THAT(mistake("payload = \"1GB\n"), HasSubstr("m:1:15: not valid TOML"));
  EXPECT_EQ(mistake(std::string("a\0b", 3)), "m: the file holds NUL bytes; give a TOML text file");
}

TEST(MapFile, ABareNumberIsShownWithAUnit) {
  EXPECT_EQ(mistake(link_toml(R"(ends = ["A", "B"], latency = 32.2)")),
            "m:4:41: links[0].latency: time 32.2 has no unit; write for example \"32.2ms\"");
  EXPECT_EQ(mistake(link_toml(R"(ends = ["A", "B"], latency = true)")),
            "m:4:41: links[0].latency: a boolean is not a time; "
            "write text with a unit, for example \"20ms\"");
}

TEST(MapFile, AnUnknownFieldIsToldTheNearestOne) {
  EXPECT_EQ(mistake(island("name = \"A\", regoin = \"Europe\"")),
            "m:3:26: islands[0].regoin: unknown field 'regoin'; did you mean 'region'?");
  EXPECT_EQ(mistake(pair_with("wormholes = 3\n")),
            "m:5:1: wormholes: unknown field 'wormholes'; known here: aggregators, defaults, edge, "
            "islands, links, name, payload, routers, source");
}

TEST(MapFile, AnUnknownEndIsToldTheNearestName) {
  EXPECT_EQ(mistake(kStart + "islands = [{ name = \"London\" }, { name = \"Paris\" }]\n"
                             "links = [{ ends = [\"Londin\", \"Paris\"], latency = \"9ms\" }]\n"),
            "m:4:19: links[0].ends: unknown island or router 'Londin'; did you mean 'London'?");
}

TEST(MapFile, ANameIsGivenOnce) {
  EXPECT_EQ(mistake(kStart + "islands = [{ name = \"A\" }]\nrouters = [{ name = \"A\" }]\n"),
            "m:4:21: routers[0].name: duplicate name 'A', first given on line 3; "
            "give every island and router a name of its own");
}

TEST(MapFile, ANameFitsInListsAndTables) {
  for (const std::string name : {"", "New York", "a,b", "a:b", "a=b", "<a>", "net", "it's"})
    EXPECT_THAT(mistake(island(fmt::format("name = \"{}\"", name))),
                HasSubstr(fmt::format("islands[0].name: '{}' cannot be a name", name)));
  EXPECT_THAT(mistake(island("name = \"" + std::string(41, 'x') + "\"")),
              HasSubstr("cannot be a name"));
  EXPECT_EQ(map_of(island("name = \"Zürich-2\"")).islands[0].name, "Zürich-2");
}

TEST(MapFile, TextForPeopleIsOneLineWithoutControlCharacters) {
  EXPECT_EQ(mistake(island(R"(name = "A", label = "a\u001bb")")),
            "m:3:34: islands[0].label: control characters in the text; "
            "write plain text on one line");
}

TEST(MapFile, ALinkHasTwoDifferentEnds) {
  EXPECT_THAT(mistake(link_toml(R"(ends = ["A", "A"], latency = "1ms")")),
              HasSubstr("m:4:19: links[0].ends: a link from A to itself"));
  EXPECT_THAT(mistake(link_toml(R"(ends = ["A"], latency = "1ms")")),
              HasSubstr("links[0].ends: a link has two ends, not 1"));
  EXPECT_THAT(mistake(link_toml(R"(ends = "A", latency = "1ms")")),
              HasSubstr("links[0].ends: text is not a list of names"));
}

TEST(MapFile, ASecondLinkBetweenTheSameEndsIsADuplicateInEitherOrder) {
  EXPECT_EQ(mistake(kStart + "islands = [{ name = \"A\" }, { name = \"B\" }]\nlinks = [\n"
                             "  { ends = [\"A\", \"B\"], latency = \"1ms\" },\n"
                             "  { ends = [\"B\", \"A\"], latency = \"1ms\" },\n]\n"),
            "m:6:12: links[1].ends: duplicate link B–A, first given on line 5; "
            "remove one of them; add their rates if they are parallel fibres");
}

TEST(MapFile, ALatencyAboveASecondIsAbsurd) {
  EXPECT_EQ(mistake(link_toml(R"(ends = ["A", "B"], latency = "1.1s")")),
            "m:4:41: links[0].latency: absurd latency of 1100.0 ms one way; "
            "half the Earth by fibre is 150 ms; check the unit");
  EXPECT_TRUE(mistakes(link_toml(R"(ends = ["A", "B"], latency = "1s")")).empty());
}

TEST(MapFile, ZeroIsNoRateAndNoPayload) {
  EXPECT_THAT(mistake(link_toml(R"(ends = ["A", "B"], latency = "1ms", rate = "0bps")")),
              HasSubstr("links[0].rate: zero rate"));
  EXPECT_THAT(mistake(island(R"(name = "A", access = { up = "0bps", down = "1bps" })")),
              HasSubstr("islands[0].access.up: zero rate"));
  EXPECT_THAT(mistake("payload = \"0B\"\nislands = [{ name = \"A\", access = \"1Gbps\" }]\n"),
              HasSubstr("m:1:11: payload: zero payload"));
}

TEST(MapFile, ThereIsThereAndBackAndNoThirdDirection) {
  EXPECT_THAT(mistake(link_toml(R"(ends = ["A", "B"], latency = ["1ms", "1ms", "1ms"])")),
              HasSubstr("links[0].latency: a list of 3, not of two"));
}

TEST(MapFile, CoordinatesAreAPointOnTheEarth) {
  EXPECT_THAT(mistake(island("name = \"A\", coordinates = [91, 0]")),
              HasSubstr("islands[0].coordinates: not a point on the Earth"));
  EXPECT_THAT(mistake(island("name = \"A\", coordinates = [nan, 0]")),
              HasSubstr("not a point on the Earth"));
  EXPECT_THAT(mistake(island("name = \"A\", coordinates = \"51N\"")),
              HasSubstr("islands[0].coordinates: not a pair of numbers"));
}

TEST(MapFile, AChunkFitsIntoItsSlotAndAPacketIntoReason) {
  EXPECT_THAT(mistake(pair_with("edge = { chunk = \"8KiB\", slot = \"4KiB\" }\n")),
              HasSubstr("m:5:33: edge.slot: a slot of 4.096 kB cannot hold a chunk of 8.192 kB"));
  EXPECT_THAT(mistake(pair_with("edge = { chunk = \"0B\" }\n")), HasSubstr("edge.chunk: zero"));
  EXPECT_THAT(mistake(pair_with("edge = { chunk = \"8GB\" }\n")),
              HasSubstr("edge: a packet larger than 16 MiB"));
}

TEST(MapFile, AnAggregatorServesIslandsEachOfThemOnce) {
  EXPECT_THAT(mistake(aggregators(R"({ at = "R" })")),
              HasSubstr("aggregators[0]: the aggregator at router R serves no island"));
  EXPECT_THAT(mistake(aggregators(R"({ at = "A", serves = [] })")),
              HasSubstr("aggregators[0].serves: an aggregator that serves nobody"));
  EXPECT_THAT(mistake(aggregators(R"({ at = "A", serves = ["R"] })")),
              HasSubstr("aggregators[0].serves: R is a router, not an island"));
  EXPECT_THAT(mistake(aggregators(R"({ at = "A" }, { at = "R", serves = ["A"] })")),
              HasSubstr("aggregators[1].serves: A is already served by an aggregator"));
}

TEST(MapFile, AnIslandWithoutAnEdgeIsServedByNone) {
  EXPECT_THAT(mistake(island("name = \"A\", edge = false") + "aggregators = [{ at = \"A\" }]\n"),
              HasSubstr("aggregators[0].serves: A says edge = false"));
}

TEST(MapFile, PlacesThatCannotBeReachedAreFoundOnTheirLine) {
  EXPECT_THAT(mistake(kStart + "islands = [\n  { name = \"A\" },\n  { name = \"B\" },\n]\n"),
              HasSubstr("m:5:12: islands[1]: disconnected map: no path from A to B"));
}

TEST(MapFile, ALinkFasterThanLightIsFoundOnItsLine) {
  EXPECT_THAT(mistake(kStart + "islands = [{ name = \"A\", coordinates = [0, 0] },\n"
                               "  { name = \"B\", coordinates = [0, 90] }]\n"
                               "links = [{ ends = [\"A\", \"B\"], latency = \"3ms\" }]\n"),
              HasSubstr("m:5:10: links[0].latency: absurd latency: A–B is 10008 km"));
}

TEST(MapFile, MoreThan4096PlacesAreTooMany) {
  std::string islands;
  for (int i = 0; i < 4097; ++i) islands += fmt::format("{{ name = \"I{}\" }},", i);
  EXPECT_THAT(mistake(kStart + "islands = [" + islands + "]\n"),
              HasSubstr("islands: 4097 islands and routers; Cotillion plans for at most 4096"));
}

TEST(MapFile, WhateverIsCutOffTheRestIsReadOrRefusedWithARemedy) {
  const std::string text = testing::example_text("nine-cities.toml");
  for (std::size_t size = 0; size < text.size(); size += 7) {
    const auto map = read_map(text.substr(0, size), "m");
    if (map) continue;
    ASSERT_FALSE(map.error().empty()) << size;
    for (const Diagnostic& diagnostic : map.error()) ASSERT_FALSE(diagnostic.remedy.empty());
  }
}

}  // namespace
}  // namespace cotillion
