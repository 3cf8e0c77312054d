// The study's runs, read back: every record is one that `cotillion train --from` reads, and the
// numbers that docs/understand/study.md leads with are those of its records. The document is read
// here, not repeated.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "train/training_file.hpp"

namespace cotillion {
namespace {

constexpr const char* kDocument = COTILLION_SOURCE_DIR "/docs/understand/study.md";
constexpr const char* kRuns = COTILLION_SOURCE_DIR "/docs/understand/study/runs.jsonl.gz";

std::string unpacked_runs() {
  const std::string command = fmt::format("gzip -dc '{}'", kRuns);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  return ::pclose(pipe) == 0 ? text : "";
}

// By the name that each line begins with: {"study":"grid",…
std::map<std::string, std::vector<Training>> runs_by_study() {
  std::map<std::string, std::string> lines;
  std::istringstream text(unpacked_runs());
  const std::string head = R"({"study":")";
  for (std::string line; std::getline(text, line);) {
    EXPECT_TRUE(line.starts_with(head)) << line.substr(0, 60);
    lines[line.substr(head.size(), line.find('"', head.size()) - head.size())] += line + "\n";
  }
  std::map<std::string, std::vector<Training>> runs;
  for (const auto& [study, its_lines] : lines) {
    auto read = read_trainings(its_lines);
    EXPECT_TRUE(read.has_value()) << study << ": " << (read ? "" : read.error().message);
    if (read) runs[study] = std::move(*read);
  }
  return runs;
}

const std::map<std::string, std::vector<Training>>& studies() {
  static const auto runs = runs_by_study();
  return runs;
}

// A row of the document's first table: who, with what, and how it ended on both kinds of text.
struct Row {
  std::string step, wire, who, policy;
  std::array<std::string, 2> printed;  // alike, by source
};

std::vector<Row> rows_of_the_document() {
  std::ifstream file(kDocument, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex row(
      R"(\| ([0-9.]+) ms \| (f32|bf16) \| ([^|]+) \| `([^`]+)` \| ([^|]+) \| ([^|]+) \|\n)");
  std::vector<Row> rows;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at)
    rows.push_back({(*at)[1], (*at)[2], (*at)[3], (*at)[4], {(*at)[5], (*at)[6]}});
  return rows;
}

// The last losses of a row's runs, by seed.
std::vector<double> losses(const Row& row, const std::string& split) {
  std::map<std::uint64_t, double> by_seed;
  for (const Training& run : studies().at("grid"))
    if (run.recipe.policy == row.policy && run.data == "texts, " + split &&
        std::abs(run.recipe.step_time * 1000 - std::stod(row.step)) < 0.01)
      by_seed[run.settings.seed] = run.points.back().loss_of_mean;
  std::vector<double> values;
  for (const auto& [seed, loss] : by_seed) values.push_back(loss);
  return values;
}

// "1.363 ± 0.006".
std::string mean_and_spread(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / double(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return fmt::format("{:.3f} ± {:.3f}", mean, std::sqrt(squares / double(values.size() - 1)));
}

TEST(Study, EveryRecordIsReadBack) {
  std::size_t runs = 0;
  for (const auto& [study, trainings] : studies()) {
    runs += trainings.size();
    for (const Training& training : trainings) EXPECT_TRUE(training.finished) << study;
  }
  EXPECT_EQ(runs, 1112u);
  std::ifstream file(kDocument, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, ::testing::HasSubstr("1,112 records"));
  for (const auto& [study, trainings] : studies())
    EXPECT_THAT(text, ::testing::HasSubstr("`" + study + "`"));
}

TEST(Study, TheGridHasTheLossesOfItsRuns) {
  const std::vector<Row> rows = rows_of_the_document();
  ASSERT_EQ(rows.size(), 24u);
  for (const Row& row : rows)
    for (std::size_t split = 0; split < 2; ++split) {
      const auto values = losses(row, split == 0 ? "alike" : "by source");
      ASSERT_EQ(values.size(), 3u) << row.step << " " << row.policy;
      EXPECT_EQ(row.printed[split], mean_and_spread(values)) << row.step << " " << row.policy;
    }
}

TEST(Study, OursIsAheadInAsManyPairsAsTheDocumentSays) {
  const std::vector<Row> rows = rows_of_the_document();
  std::size_t pairs = 0, ahead = 0;
  for (const Row& ours : rows)
    for (const Row& rival : rows)
      for (const char* split : {"alike", "by source"}) {
        if (ours.who != "ours" || rival.who != "Streaming DiLoCo") continue;
        if (ours.step != rival.step || ours.wire != rival.wire) continue;
        const auto mine = losses(ours, split), theirs = losses(rival, split);
        ASSERT_EQ(mine.size(), theirs.size());
        for (std::size_t seed = 0; seed < mine.size(); ++seed, ++pairs)
          ahead += mine[seed] < theirs[seed] ? 1 : 0;
      }
  std::ifstream file(kDocument, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, ::testing::HasSubstr(fmt::format("ahead in {} of {} pairs", ahead, pairs)));
}

}  // namespace
}  // namespace cotillion
