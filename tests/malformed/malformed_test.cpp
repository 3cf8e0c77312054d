// Every file under maps/ and schedules/ holds a mistake and says, in comments at its head, which
// refusal it deserves: `# expect LINE: text`, or `# expect *: text` where no line is to blame.
// The list is complete: a mistake that is reported twice, or that drags others along, fails too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "plan/file/schedule_file.hpp"
#include "tests/support/base/test_per_file.hpp"
#include "topology/map_file.hpp"

namespace cotillion {
namespace {

namespace fs = std::filesystem;
using testing::test_name;

const fs::path kSource = COTILLION_SOURCE_DIR;

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kSource / folder))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

struct Expectation {
  int line = 0;  // 0: any
  std::string text;
};

std::vector<Expectation> expectations_of(const std::string& bytes) {
  std::vector<Expectation> expectations;
  std::istringstream lines(bytes);
  const std::string opening = "# expect ";
  for (std::string line; std::getline(lines, line) && line.starts_with(opening);) {
    const std::size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << line;
    const std::string where = line.substr(opening.size(), colon - opening.size());
    expectations.push_back({where == "*" ? 0 : std::stoi(where), line.substr(colon + 2)});
  }
  return expectations;
}

std::string all_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += "  " + to_text(diagnostic) + "\n";
  return text;
}

void check_remedies(const Diagnostics& diagnostics, const std::string& file) {
  EXPECT_FALSE(diagnostics.empty());
  for (const Diagnostic& diagnostic : diagnostics) {
    EXPECT_EQ(diagnostic.file, file);
    EXPECT_FALSE(diagnostic.message.empty()) << to_text(diagnostic);
    EXPECT_FALSE(diagnostic.remedy.empty()) << to_text(diagnostic);
  }
}

void check_refusal(const std::string& bytes, const Diagnostics& diagnostics,
                   const std::string& file) {
  check_remedies(diagnostics, file);
  const auto expectations = expectations_of(bytes);
  EXPECT_FALSE(expectations.empty()) << "the file must begin with `# expect LINE: text`";
  EXPECT_EQ(diagnostics.size(), expectations.size()) << all_of(diagnostics);
  for (const Expectation& expected : expectations) {
    const bool found =
        std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& diagnostic) {
          const std::string text = diagnostic.message + "; " + diagnostic.remedy;
          return (expected.line == 0 || expected.line == diagnostic.at.line) &&
                 text.find(expected.text) != std::string::npos;
        });
    EXPECT_TRUE(found) << "expected on line " << expected.line << ": " << expected.text
                       << "\nreported:\n"
                       << all_of(diagnostics);
  }
}

const Map& nine_cities() {
  static const Map map =
      read_map(read_bytes(kSource / "examples/nine-cities.toml"), "nine-cities.toml").value();
  return map;
}

class MalformedMap : public ::testing::TestWithParam<fs::path> {};

TEST_P(MalformedMap, IsRefusedWithLineAndRemedy) {
  const std::string bytes = read_bytes(GetParam());
  const std::string file = GetParam().filename().string();
  const auto map = read_map(bytes, file);
  ASSERT_FALSE(map.has_value()) << "was read as a sound map";
  check_refusal(bytes, map.error(), file);
}

INSTANTIATE_TEST_SUITE_P(Corpus, MalformedMap,
                         ::testing::ValuesIn(files_in("tests/malformed/maps")), test_name);

class MalformedSchedule : public ::testing::TestWithParam<fs::path> {};

TEST_P(MalformedSchedule, IsRefusedWithLineAndRemedy) {
  const std::string bytes = read_bytes(GetParam());
  const std::string file = GetParam().filename().string();
  const auto schedule = read_schedule(bytes, file, nine_cities());
  ASSERT_FALSE(schedule.has_value()) << "was read as a sound schedule";
  check_refusal(bytes, schedule.error(), file);
}

INSTANTIATE_TEST_SUITE_P(Corpus, MalformedSchedule,
                         ::testing::ValuesIn(files_in("tests/malformed/schedules")), test_name);

// Too large to keep as files -----------------------------------------------------------------

std::string map_of(int islands, const std::string& links) {
  std::string text =
      "payload = \"1GB\"\ndefaults = { access = \"20Gbps\", rate = \"100Gbps\" }\nislands = [\n";
  for (int i = 0; i < islands; ++i) text += fmt::format("  {{ name = \"i{}\" }},\n", i);
  return text + "]\nlinks = [\n" + links + "]\n";
}

std::string only_message(const Diagnostics& diagnostics) {
  EXPECT_EQ(diagnostics.size(), 1u) << all_of(diagnostics);
  return diagnostics.at(0).message;
}

TEST(MalformedBySize, EmptyTextIsRefused) {
  EXPECT_FALSE(read_map("", "map.toml").has_value());
  EXPECT_FALSE(read_schedule("", "schedule.toml", nine_cities()).has_value());
}

TEST(MalformedBySize, AMapOfTooManyIslandsIsRefused) {
  const auto map = read_map(map_of(4097, ""), "map.toml");
  ASSERT_FALSE(map.has_value());
  EXPECT_EQ(only_message(map.error()), "4097 islands and routers");
}

TEST(MalformedBySize, AMapOfTooManyLinksIsRefused) {
  std::string links;
  int count = 0;
  for (int i = 0; i < 363; ++i)
    for (int j = 0; j < i && count <= 65536; ++j, ++count)
      links += fmt::format("  {{ ends = [\"i{}\", \"i{}\"], latency = \"1ms\" }},\n", j, i);
  const auto map = read_map(map_of(363, links), "map.toml");
  ASSERT_FALSE(map.has_value());
  EXPECT_EQ(only_message(map.error()), "65537 links");
}

TEST(MalformedBySize, AScheduleOfTooManyRoundsIsRefused) {
  std::string text = "rounds = [\n";
  for (int i = 0; i < 4097; ++i) text += "  { cliques = [] },\n";
  const auto schedule = read_schedule(text + "]\n", "schedule.toml", nine_cities());
  ASSERT_FALSE(schedule.has_value());
  EXPECT_EQ(only_message(schedule.error()), "4097 rounds");
}

TEST(MalformedBySize, AMistakeOnEveryLineIsReportedAThousandTimesAndTheRestIsCounted) {
  std::string links;
  for (int i = 0; i < 3000; ++i) links += "  { ends = [\"i0\"], latency = \"1ms\" },\n";
  const auto map = read_map(map_of(1, links), "map.toml");
  ASSERT_FALSE(map.has_value());
  ASSERT_EQ(map.error().size(), 1001u);
  EXPECT_EQ(map.error().back().message, "and 2000 mistakes more");
}

// Mutations ----------------------------------------------------------------------------------

class MutatedExample : public ::testing::TestWithParam<fs::path> {
 protected:
  // Soundness is for others to judge: here a reader must return, and never refuse without help.
  static void read(const std::string& bytes) {
    const auto map = read_map(bytes, "mutated.toml");
    if (!map) check_remedies(map.error(), "mutated.toml");
  }
};

TEST_P(MutatedExample, CutAnywhereIsReadOrRefused) {
  constexpr std::size_t kCuts = 64;
  const std::string whole = read_bytes(GetParam());
  for (std::size_t cut = 0; cut < kCuts; ++cut) {
    SCOPED_TRACE(fmt::format("the first {} bytes", whole.size() * cut / kCuts));
    read(whole.substr(0, whole.size() * cut / kCuts));
  }
}

TEST_P(MutatedExample, WithFlippedBytesIsReadOrRefused) {
  const std::string whole = read_bytes(GetParam());
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    std::string bytes = whole;
    for (std::int64_t flips = random.between(1, 8); flips > 0; --flips)
      bytes[std::size_t(random.between(0, std::int64_t(bytes.size()) - 1))] =
          char(random.between(0, 255));
    read(bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, MutatedExample, ::testing::ValuesIn(files_in("examples")),
                         test_name);

}  // namespace
}  // namespace cotillion
