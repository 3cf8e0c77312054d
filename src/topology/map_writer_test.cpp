#include "topology/map_writer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"
#include "tests/support/topology/maps.hpp"
#include "topology/map_file.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;
using testing::map_of;
using ::testing::Not;

bool same(const std::optional<Coordinates>& a, const std::optional<Coordinates>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->latitude == b->latitude && a->longitude == b->longitude));
}

// Field by field, so that a failure says where.
void expect_equal(const Map& a, const Map& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.payload, b.payload);
  EXPECT_EQ(a.edge, b.edge);
  ASSERT_EQ(a.islands.size(), b.islands.size());
  for (const IslandId i : a.islands.ids()) {
    EXPECT_EQ(a.islands[i].name, b.islands[i].name);
    EXPECT_EQ(a.islands[i].label, b.islands[i].label);
    EXPECT_EQ(a.islands[i].region, b.islands[i].region);
    EXPECT_TRUE(same(a.islands[i].coordinates, b.islands[i].coordinates));
    EXPECT_EQ(a.islands[i].up, b.islands[i].up);
    EXPECT_EQ(a.islands[i].down, b.islands[i].down);
  }
  ASSERT_EQ(a.routers.size(), b.routers.size());
  for (std::size_t i = 0; i < a.routers.size(); ++i) {
    EXPECT_EQ(a.routers[i].name, b.routers[i].name);
    EXPECT_TRUE(same(a.routers[i].coordinates, b.routers[i].coordinates));
  }
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i)
    for (const int way : {0, 1}) {
      EXPECT_EQ(a.links[i].ends[way], b.links[i].ends[way]);
      EXPECT_EQ(a.links[i].latency[way], b.links[i].latency[way]);
      EXPECT_EQ(a.links[i].rate[way], b.links[i].rate[way]);
    }
  ASSERT_EQ(a.aggregators.size(), b.aggregators.size());
  for (const AggregatorId i : a.aggregators.ids()) {
    EXPECT_EQ(a.aggregators[i].place, b.aggregators[i].place);
    EXPECT_EQ(a.aggregators[i].spec, b.aggregators[i].spec);
    EXPECT_EQ(a.aggregators[i].serves, b.aggregators[i].serves);
  }
}

void expect_survives_writing(const Map& map) {
  const std::string text = write_map(map);
  const auto again = read_map(text, "written.toml");
  ASSERT_TRUE(again.has_value()) << to_text(again.error()[0]) << "\n" << text;
  expect_equal(map, *again);
}

// Every freedom that the format has: routers, directions, labels, edges at odd places or absent.
Map any_map(std::uint64_t seed) {
  Random random(seed);
  const auto one_in = [&](int n) { return random.between(1, n) == 1; };
  const auto rate = [&] {
    return BitsPerSecond{one_in(2) ? 1e11 : double(random.between(1, std::int64_t{1} << 53))};
  };
  Map map;
  if (one_in(2)) map.name = "a \"map\" with a \\";
  if (one_in(2)) map.source = "Zürich, #1 = [x]";
  map.payload = {random.between(1, std::int64_t{1} << 38)};
  if (one_in(2)) map.edge.memory = {random.between(0, 40) * 1'000'000'000};
  if (one_in(3)) map.edge.chunk = {random.between(1, 9000)};
  map.edge.slot = one_in(2) ? map.edge.chunk : 2 * map.edge.chunk;
  if (one_in(3)) map.edge.framing = {random.between(0, 200)};
  if (one_in(3)) map.edge.resend = {random.between(0, 1 << 30)};
  const int islands = int(random.between(1, 9)), routers = int(random.between(0, 4));
  const auto coordinates = [&]() -> std::optional<Coordinates> {
    if (one_in(2)) return std::nullopt;
    return Coordinates{random.unit() * 1e-3, random.unit() * 1e-9};  // all in one town
  };
  for (int i = 0; i < islands; ++i) {
    Island island{fmt::format("i{}\\", i),
                  one_in(2) ? "an \"island\"" : "",
                  one_in(2) ? "région" : "",
                  coordinates(),
                  rate(),
                  {}};
    island.down = one_in(2) ? island.up : rate();
    map.islands.push_back(island);
  }
  for (int i = 0; i < routers; ++i) map.routers.push_back({fmt::format("r{}", i), coordinates()});
  for (PlaceId to = 1; to < map.place_count(); ++to) {
    const auto latency = [&] { return Duration{random.between(1'000'000, 1'000'000'000'000)}; };
    Link link{{PlaceId(random.between(0, to - 1)), to}, {latency(), {}}, {rate(), {}}};
    link.latency[1] = one_in(2) ? link.latency[0] : latency();
    link.rate[1] = one_in(2) ? link.rate[0] : rate();
    if (one_in(2)) std::swap(link.ends[0], link.ends[1]);
    map.links.push_back(link);
  }
  // Explicit edges come first, in any order; the plain ones follow in the order of islands.
  std::vector<IslandId> plain;
  for (IslandId i = 0; i < islands; ++i) {
    if (one_in(4)) continue;  // edge = false
    Aggregator edge{i, map.edge, {i}};
    if (one_in(3)) edge.spec.memory = {random.between(0, 1 << 30)};
    if (one_in(4)) edge.place = PlaceId(random.between(0, map.place_count() - 1));
    if (!map.aggregators.empty() && one_in(4))
      map.aggregators.back().serves.push_back(i);
    else if (edge.spec == map.edge && edge.place == i)
      plain.push_back(i);
    else
      map.aggregators.push_back(edge);
  }
  std::reverse(map.aggregators.begin(), map.aggregators.end());
  for (const IslandId i : plain) map.aggregators.push_back({i, map.edge, {i}});
  return map;
}

TEST(MapWriter, WhatIsWrittenReadsAsTheSameMap) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(fmt::format("any_map({})", seed));
    expect_survives_writing(any_map(seed));
    if (HasFailure()) return;
  }
}

TEST(MapWriter, ExamplesSurviveWriting) {
  for (const char* name : {"nine-cities", "isosceles", "asymmetric-triangle"})
    expect_survives_writing(testing::example_map(name));
}

TEST(MapWriter, WhatMostShareIsADefaultAndTheRestIsOnItsLine) {
  const std::string text = write_map(map_of(R"(payload = "1GB"
islands = [{ name = "A", access = "20Gbps" }, { name = "B", access = "5Gbps" },
           { name = "C", access = "20Gbps" }]
links = [{ ends = ["A", "B"], latency = "1ms", rate = "10Gbps" },
         { ends = ["B", "C"], latency = ["1ms", "1.5ms"], rate = "10Gbps" }]
)"));
  EXPECT_EQ(text, R"(payload  = "1GB"
defaults = { access = "20Gbps", rate = "10Gbps" }

islands = [
  { name = "A" },
  { name = "B", access = "5Gbps" },
  { name = "C" },
]

links = [
  { ends = ["A", "B"], latency = "1ms" },
  { ends = ["B", "C"], latency = ["1ms", "1.5ms"] },
]
)");
}

TEST(MapWriter, OnlyEdgesThatTheReaderWouldNotAddAreWritten) {
  const std::string text = write_map(map_of(R"(payload = "1GB"
defaults = { access = "1Gbps", rate = "1Gbps" }
islands = [{ name = "A" }, { name = "B", edge = false }, { name = "C" }]
links = [{ ends = ["A", "B"], latency = "1ms" }, { ends = ["B", "C"], latency = "1ms" }]
aggregators = [{ at = "B", serves = ["C"], memory = "8GB" }]
)"));
  EXPECT_THAT(text, HasSubstr("{ at = \"B\", serves = [\"C\"], memory = \"8GB\" }"));
  EXPECT_THAT(text, HasSubstr("{ name = \"B\", edge = false }"));
  EXPECT_THAT(text, Not(HasSubstr("at = \"A\"")));
}

TEST(MapWriter, AResendStoreOfTheUsualSizeIsLeftOut) {
  Map map = map_of("payload = \"1GB\"\nislands = [{ name = \"A\", access = \"1Gbps\" }]\n");
  EXPECT_THAT(write_map(map), Not(HasSubstr("resend")));
  map.edge.resend = {128'000'000};
  map.aggregators[0].spec.resend = {128'000'000};
  EXPECT_THAT(write_map(map), HasSubstr("edge     = { resend = \"128MB\" }"));
  expect_survives_writing(map);
}

TEST(MapWriter, RemarksAreWrappedCommentsAndNothingElse) {
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word ";
  const std::string text =
      write_map(map_of("payload = \"1GB\"\nislands = [{ name = \"A\", access = \"1Gbps\" }]\n"),
                {words, "two\nlines = 3"});
  EXPECT_TRUE(read_map(text, "m").has_value()) << text;
  EXPECT_EQ(text.substr(0, 7), "# word ");
  EXPECT_THAT(text, HasSubstr("# ? = 3\n"));
  EXPECT_LE(text.find('\n'), 98u);
}

TEST(MapWriter, QuantitiesAreExactAndShort) {
  EXPECT_EQ(exact_text(Duration{49'400'000'000}), "49.4ms");
  EXPECT_EQ(exact_text(Duration{1}), "0.000000001ms");
  EXPECT_EQ(exact_text(Duration{}), "0ms");
  EXPECT_EQ(exact_text(Bytes{8192}), "8KiB");
  EXPECT_EQ(exact_text(Bytes{32'000'000'000}), "32GB");
  EXPECT_EQ(exact_text(Bytes{1'500'000'000}), "1500MB");
  EXPECT_EQ(exact_text(Bytes{0}), "0B");
  EXPECT_EQ(exact_text(BitsPerSecond{155e6}), "155Mbps");
  EXPECT_EQ(exact_text(BitsPerSecond{2.5e9}), "2.5Gbps");
  EXPECT_EQ(exact_text(BitsPerSecond{1}), "1bps");
}

}  // namespace
}  // namespace cotillion
