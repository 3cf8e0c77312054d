// What importers refuse, and that nothing makes them fall over. Files of each format that are
// sound are read in the tests of that format.
#include "topology/import_map.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/text.hpp"
#include "topology/map_file.hpp"
#include "topology/map_writer.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;

struct Mistake {
  const char* name;
  ImportFormat format;
  std::string text;
  const char* expected;  // part of the first diagnostic, as text
};

constexpr ImportFormat kGml = ImportFormat::kGml;
constexpr ImportFormat kCsv = ImportFormat::kCsv;
constexpr ImportFormat kDz = ImportFormat::kDoublezero;

std::string gml(const std::string& edge, const std::string& node = "node [ id 1 ]") {
  return "graph [\nnode [ id 0 ]\n" + node + "\n" + edge + "\n]\n";
}

std::string csv(const std::string& row) {
  return "device1,device2,latency,bandwidth\n" + row + "\n";
}

std::string dz(const std::string& fields) {
  return "[\n{\"side_a_name\": \"A\", \"side_z_name\": \"B\"" + fields + "}\n]\n";
}

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

const std::vector<Mistake> kGmlMistakes = {
    {"gml_empty", kGml, "", "f: no graph in the file; GML begins with graph ["},
    {"gml_without_graph", kGml, "node [ id 1 ]", "f: no graph in the file"},
    {"gml_of_nothing", kGml, "graph [ ]", "f: no places in the file"},
    {"gml_not_closed", kGml, "graph [\n node [ id 0\n", "f:2:2: a list that is never closed"},
    {"gml_closed_twice", kGml, "graph [ ] ]", "f:1:11: a ] too many"},
    {"gml_string_not_closed", kGml, "graph [\n label \"abc",
     "f:2:8: a string that is never closed"},
    {"gml_key_without_value", kGml, "graph [ label ]", "f:1:9: a key without a value"},
    {"gml_key_at_the_end", kGml, "graph", "f:1:1: a key without a value"},
    {"gml_of_punctuation", kGml, "graph [ = 3 ]", "f:1:9: '=' where a key should be"},
    {"gml_of_bytes", kGml, "\xff\xfe\x01", "f:1:1: '?' where a key should be"},
    {"gml_twice", kGml, "graph [ ]\ngraph [ ]", "f:2:1: a second graph"},
    {"gml_deep", kGml, repeated("a [ ", 1'000'000), "lists nested more than 32 deep"},
    {"gml_node_without_id", kGml, gml("", "node [ label \"x\" ]"),
     "f:3:1: node.id: a node without id"},
    {"gml_node_twice", kGml, gml("", "node [ id 0 ]"), "f:3:11: node.id: duplicate id 0"},
    {"gml_edge_without_source", kGml, gml("edge [ target 1 ]"),
     "f:4:1: edge.source: an edge without"},
    {"gml_edge_to_nowhere", kGml, gml("edge [ source 0 target 7 distance 1 ]"),
     "f:4:24: edge.target: no node has the id 7"},
    {"gml_edge_without_distance", kGml, gml("edge [ source 0 target 1 ]"),
     "f:4:1: edge.distance: an edge without distance"},
    {"gml_distance_in_words", kGml, gml("edge [ source 0 target 1 distance \"far\" ]"),
     "edge.distance: 'far' is not a number"},
    {"gml_distance_negative", kGml, gml("edge [ source 0 target 1 distance -3 ]"),
     "f:4:35: edge.distance: negative distance of -3 km"},
    {"gml_distance_nan", kGml, gml("edge [ source 0 target 1 distance nan ]"), "is not a number"},
    {"gml_distance_overflows", kGml, gml("edge [ source 0 target 1 distance 1e999 ]"),
     "is not a number"},
    {"gml_distance_absurd", kGml, gml("edge [ source 0 target 1 distance 2e5 ]"),
     "absurd distance of 200000 km"},
    {"gml_latitude_absurd", kGml, gml("", "node [ id 1 Latitude 91 Longitude 0 ]"),
     "f:3:22: node.Latitude: not a point on the Earth"},
    {"gml_longitude_in_words", kGml, gml("", "node [ id 1 Latitude 1 Longitude \"E\" ]"),
     "node.Longitude: 'E' is not a number"},
    {"gml_faster_than_light", kGml,
     "graph [ node [ id 0 Latitude 0 Longitude 0 ] node [ id 1 Latitude 0 Longitude 90 ]\n"
     "edge [ source 0 target 1 distance 1 ] ]",
     "f:2:1: links[0].latency: absurd latency: 0–1 is 10008 km"},
};

const std::vector<Mistake> kCsvMistakes = {
    {"csv_empty", kCsv, "", "f: an empty file"},
    {"csv_blank", kCsv, "\n \r\n\n", "f: an empty file"},
    {"csv_other_columns", kCsv, "from,to\n1,2\n", "f:1:1: a header that is not known"},
    {"csv_half_a_header", kCsv, "start,end,latency,bandwidth\n", "a header that is not known"},
    {"csv_header_only", kCsv, csv(""), "f: no places in the file"},
    {"csv_short_row", kCsv, csv("A,B,1"), "f:2:1: 3 fields where the header has 4"},
    {"csv_long_row", kCsv, csv("A,B,1,2,3"), "f:2:1: 5 fields where the header has 4"},
    {"csv_latency_with_unit", kCsv, csv("A,B,5ms,10"), "f:2:5: latency: '5ms' is not a number"},
    {"csv_latency_missing", kCsv, csv("A,B,,10"), "latency: '' is not a number"},
    {"csv_latency_na", kCsv, csv("A,B,NA,10"), "latency: 'NA' is not a number"},
    {"csv_latency_negative", kCsv, csv("A,B,-1,10"), "f:2:5: latency: negative latency of -1 ms"},
    {"csv_latency_nan", kCsv, csv("A,B,nan,10"), "latency: a latency that is no finite number"},
    {"csv_latency_absurd", kCsv, csv("A,B,1e6,10"), "latency: absurd latency of 1e+06 ms"},
    {"csv_rate_zero", kCsv, csv("A,B,1,0"), "f:2:7: bandwidth: zero rate"},
    {"csv_rate_negative", kCsv, csv("A,B,1,-10"), "bandwidth: negative rate of -1e+10 bit/s"},
    {"csv_rate_infinite", kCsv, csv("A,B,1,inf"), "bandwidth: a rate that is no finite number"},
    {"csv_rate_absurd", kCsv, csv("A,B,1,1e12"), "bandwidth: absurd rate of 1e+21 bit/s"},
    {"csv_rates_absurd_in_all", kCsv, csv("A,B,1,9e6\nA,B,1,9e6"), "absurd rate of 1.8e+16 bit/s"},
    {"csv_end_without_name", kCsv, csv("A,,1,1"), "f:2:3: device2: an end without a name"},
    {"csv_quote_not_closed", kCsv, csv("\"A,B,1,1"), "f:2:1: a quotation mark that is not closed"},
    {"csv_text_behind_quotes", kCsv, csv("\"A\"x,B,1,1"), "text behind a closing quotation mark"},
    {"csv_of_commas", kCsv, std::string(1'000'000, ','), "f:1:1: more than 64 fields"},
    {"csv_of_lines", kCsv, csv(repeated("A,B,1,1\n", 200'000)), "more than 200000 lines"},
};

const std::vector<Mistake> kJsonMistakes = {
    {"json_empty", kDz, "", "f:1:1: not valid JSON"},
    {"json_cut", kDz, "[\n{\"side_a\": ", "f:2:12: not valid JSON"},
    {"json_number", kDz, "3", "f: no links in the file"},
    {"json_empty_list", kDz, "[]", "f: no links in the file"},
    {"json_of_names", kDz, "[\"A\", \"B\"]", "f: no links in the file"},
    {"json_broken_utf8", kDz, dz(", \"x\": \"\xff\""), "not valid JSON"},
    {"json_overflow", kDz, dz(", \"bandwidth\": 1e999"), "not valid JSON"},
    {"json_deep", kDz, std::string(1'000'000, '['), "nested more than 32 deep"},
    {"json_deep_objects", kDz, repeated("{\"a\":", 1'000'000), "f:1:161: nested more than 32 deep"},
    {"json_two_lists", kDz, R"({"a": [{"x": 1}], "b": [{"x": 1}]})",
     "f:1:25: b: a second list of objects"},
    {"json_without_end", kDz, "[{\"side_a\": \"A\"}]",
     "f:1:2: links[0].side_z_name: a link without"},
    {"json_without_bandwidth", kDz, dz(", \"delay_ns\": 1"),
     "f:2:1: links[0].bandwidth: missing field 'bandwidth'"},
    {"json_bandwidth_in_words", kDz, dz(R"(, "bandwidth": "fast", "delay_ns": 1)"),
     "links[0].bandwidth: \"fast\" is not a rate"},
    {"json_bandwidth_in_bytes", kDz, dz(R"(, "bandwidth": "10GB", "delay_ns": 1)"),
     "unknown unit \"GB\""},
    {"json_bandwidth_zero", kDz, dz(R"(, "bandwidth": 0, "delay_ns": 1)"), "bandwidth: zero rate"},
    {"json_bandwidth_negative", kDz, dz(R"(, "bandwidth": -5, "delay_ns": 1)"), "negative rate"},
    {"json_bandwidth_a_list", kDz, dz(R"(, "bandwidth": [1], "delay_ns": 1)"),
     "missing field 'bandwidth'"},
    {"json_delay_negative", kDz, dz(R"(, "bandwidth": 1, "delay_ns": -1)"), "negative latency"},
    {"json_delay_absurd", kDz, dz(R"(, "bandwidth": 1, "delay_ns": 18446744073709551615)"),
     "delay_ns: absurd latency"},
    {"json_jitter_absurd", kDz, dz(R"(, "bandwidth": 1, "delay_ns": 1, "jitter_ns": 1e15)"),
     "jitter_ns: absurd latency"},
    {"json_all_links_down", kDz, dz(R"(, "bandwidth": 1, "delay_ns": 1, "status": "down")"),
     "f: no places in the file"},
};

TEST(ImportMap, EveryMistakeIsFoundOnItsLineWithARemedy) {
  for (const auto* mistakes : {&kGmlMistakes, &kCsvMistakes, &kJsonMistakes})
    for (const Mistake& mistake : *mistakes) {
      SCOPED_TRACE(mistake.name);
      const auto result = import_map(mistake.text, "f", mistake.format);
      ASSERT_FALSE(result.has_value());
      EXPECT_THAT(to_text(result.error()[0]), HasSubstr(mistake.expected));
      for (const Diagnostic& diagnostic : result.error()) {
        EXPECT_FALSE(diagnostic.remedy.empty());
        EXPECT_TRUE(is_plain(to_text(diagnostic)));
      }
    }
}

TEST(ImportMap, AllMistakesAreReportedUpToAThousand) {
  const auto result = import_map(csv(repeated("A,B,x,y\n", 3000)), "f", kCsv);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().size(), 1001u);
}

TEST(ImportMap, TheFormatIsThatOfTheNameOrOfTheText) {
  EXPECT_EQ(import_format_of("", "a/b.gml"), kGml);
  EXPECT_EQ(import_format_of("", "b.CSV"), kCsv);
  EXPECT_EQ(import_format_of("graph [", "b.json"), kDz);
  EXPECT_EQ(import_format_of("\xef\xbb\xbf [{}]", "b"), kDz);
  EXPECT_EQ(import_format_of("# Creator, me\ngraph [ ]", "b"), kCsv) << "say so with --format";
  EXPECT_EQ(import_format_of("Creator \"me\"\ngraph [ ]", "b"), kGml);
  EXPECT_EQ(import_format_of("device1,device2\n", "b.txt"), kCsv);
  EXPECT_EQ(import_format_of("", "b"), std::nullopt);
  EXPECT_EQ(import_format_named("doublezero"), kDz);
  EXPECT_EQ(import_format_named("GML"), std::nullopt);
  const auto result = import_map("what is this", "b", std::nullopt);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(to_text(result.error()[0]),
            "b: neither GML nor CSV nor JSON; say which: --format gml|csv|doublezero");
}

TEST(ImportMap, AByteOrderMarkIsSkippedAndNulBytesAreRefused) {
  EXPECT_TRUE(import_map("\xef\xbb\xbf" + csv("A,B,1,1"), "f", kCsv).has_value());
  EXPECT_FALSE(import_map(csv("A,B,1,1") + std::string(1, '\0'), "f", kCsv).has_value());
}

// Sound files of each format, to be damaged.
const std::pair<ImportFormat, std::string> kSound[] = {
    {kGml, gml("edge [ source 0 target 1 distance 120.5 ]\nedge [ source 1 target 2 distance 7 ]",
               "node [ id 1 label \"Z&#252;rich\" Latitude 47.4 Longitude 8.5 ] node [ id 2 ]")},
    {kCsv, csv("NYC1,NYC2,0.5,10\n\"NYC2\",LON1,35.25,100\nLON1,PAR1,4,10\nNYC1,LON1,35.25,10")},
    {kDz,
     "[\n" +
         dz(R"(, "bandwidth": 10000000000, "delay_ns": 5000000, "status": "activated")").substr(2)},
};

TEST(ImportMap, DamagedFilesAreRefusedOrMakeSoundMaps) {
  for (const auto& [format, text] : kSound) {
    ASSERT_TRUE(import_map(text, "f", format).has_value());
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
      SCOPED_TRACE(fmt::format("format {} seed {}", int(format), seed));
      Random random(seed);
      std::string damaged = text;
      for (std::int64_t count = random.between(1, 6); count > 0; --count) {
        const auto at = std::size_t(random.between(0, std::int64_t(damaged.size()) - 1));
        const auto size = std::size_t(random.between(1, 12));
        switch (random.between(0, 3)) {
          case 0:
            damaged[at] = char(random.between(0, 255));
            break;
          case 1:
            damaged.erase(at, std::min(size, damaged.size() - 1));
            break;
          case 2:
            damaged.insert(at, damaged.substr(at / 2, size));
            break;
          default:
            damaged[at] = "0123456789-.e[]{}\",\n"[random.between(0, 19)];
        }
        if (damaged.empty()) damaged = " ";
      }
      ImportOptions options;
      options.merge_metros = seed % 2 == 0;
      const auto result = import_map(damaged, "f", format, options);
      if (result) {
        const auto again = read_map(write_map(result->map, result->notes), "m");
        ASSERT_TRUE(again.has_value()) << to_text(again.error()[0]) << "\n" << damaged;
      } else {
        ASSERT_FALSE(result.error().empty());
      }
    }
  }
}

}  // namespace
}  // namespace cotillion
