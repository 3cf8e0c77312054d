// What --help prints: every verb has an example, nothing of the parsing library shows through, and
// docs/reference/commands.md is the same text for those who read before they install.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/table.hpp"

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kColumnsMost = 100;
constexpr const char* kDocument = COTILLION_SOURCE_DIR "/docs/reference/commands.md";

std::string help_of(const std::string& verb) {
  const std::string command = "'" COTILLION_BINARY "' " + verb + " --help 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot be run\n";
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  ::pclose(pipe);
  return text;
}

std::vector<std::string> help_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A word of lower-case letters that stands two columns in, with its sentence: a verb in a list.
std::string verb_in(const std::string& line) {
  if (!line.starts_with("  ") || line.size() < 4) return "";
  const std::size_t end = line.find(' ', 2);
  const std::string word = line.substr(2, end - 2);
  const bool letters = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
  return letters && end != std::string::npos && word != "cotillion" ? word : "";
}

// What stands under headings, up to the options.
std::vector<std::string> verbs_in(const std::string& help) {
  std::vector<std::string> verbs;
  bool listed = false;
  for (const std::string& line : help_lines(help)) {
    if (!line.empty() && line[0] != ' ') listed = line.ends_with(":");
    if (line == "Options:" || line == "Arguments:") listed = false;
    if (const std::string verb = verb_in(line); listed && !verb.empty()) verbs.push_back(verb);
  }
  return verbs;
}

// "plan", "topology", "topology check", …, in the order in which help shows them.
std::vector<std::string> all_verbs() {
  std::vector<std::string> verbs;
  for (const std::string& verb : verbs_in(help_of(""))) {
    verbs.push_back(verb);
    for (const std::string& below : verbs_in(help_of(verb))) verbs.push_back(verb + " " + below);
  }
  return verbs;
}

void expect_readable(const std::string& verb, const std::string& help) {
  for (const char* noise : {":INT in", ":TEXT", "{false}", "TEXT:", "INT:", "REQUIRED", "[0]"})
    EXPECT_THAT(help, Not(HasSubstr(noise))) << verb;
  for (const std::string& line : help_lines(help)) {
    EXPECT_LE(cotillion::display_width(line), kColumnsMost) << verb << ": " << line;
    EXPECT_FALSE(line.ends_with(" ")) << verb << ": '" << line << "'";
  }
}

TEST(Help, EveryVerbHasAnExampleAndIsReadable) {
  const std::vector<std::string> verbs = all_verbs();
  EXPECT_EQ(verbs.size(), 23u);
  for (const std::string& verb : verbs) {
    const std::string help = help_of(verb);
    EXPECT_THAT(help, HasSubstr("\nExample")) << verb;
    EXPECT_THAT(help, HasSubstr("\n  cotillion " + verb)) << verb;
    expect_readable(verb, help);
  }
}

TEST(Help, TheFirstPageListsEachVerbOnce) {
  const std::string help = help_of("");
  expect_readable("cotillion", help);
  std::vector<std::string> verbs = verbs_in(help);
  EXPECT_EQ(verbs.size(), 14u);
  std::sort(verbs.begin(), verbs.end());
  EXPECT_EQ(std::adjacent_find(verbs.begin(), verbs.end()), verbs.end());
  EXPECT_THAT(help, HasSubstr("3 system error"));
}

// COTILLION_BLESS=1 writes it.
TEST(Help, TheDocumentSaysTheSame) {
  std::string text =
      "# Commands\n\nWhat `cotillion VERB --help` prints, verb by verb. A test keeps this page "
      "so.\n\n```text\n" +
      help_of("") + "```\n";
  for (const std::string& verb : all_verbs())
    text += "\n## cotillion " + verb + "\n\n```text\n" + help_of(verb) + "```\n";
  if (std::getenv("COTILLION_BLESS") != nullptr) {
    std::ofstream(kDocument, std::ios::binary) << text;
    return;
  }
  std::ifstream file(kDocument, std::ios::binary);
  const std::string shown{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(shown == text) << "COTILLION_BLESS=1 build/release/scenario_test "
                                "--gtest_filter=Help.* rewrites docs/reference/commands.md";
}

}  // namespace
