// The units in deploy/ and the pages for operators call `cotillion` as it is.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "daemon/child_output.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kRoot = COTILLION_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> units() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kRoot / "deploy"))
    if (entry.path().extension() == ".service") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Lines that end in a backslash go on, as systemd and shells read them.
std::string joined(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(\\\n\s*)"), "");
}

// What a verb's --help says; nothing for a verb that is not there, or not in this build.
std::string help_of(const std::vector<std::string>& verb) {
  static std::map<std::vector<std::string>, std::string> known;
  if (const auto found = known.find(verb); found != known.end()) return found->second;
  std::vector<std::string> words = {COTILLION_BINARY};
  words.insert(words.end(), verb.begin(), verb.end());
  words.emplace_back("--help");
  const auto help = child_output(words, {.time = Duration{30'000'000'000'000}});
  const bool there = help && help->find("Not in this build") == std::string::npos;
  return known[verb] = there ? *help : "";
}

// Options of the command lines of `cotillion` in a text that its verbs do not have. Templates of
// options, such as $OPTIONS, and options in brackets are read as well as plain ones.
std::vector<std::string> unknown_options(const std::string& text) {
  std::vector<std::string> unknown;
  const std::regex command(R"((?:^|[=`/\s])cotillion ([a-z]+)([^\n`#]*))");
  const std::regex option(R"((?:^|[\s\[])(--?[a-z][a-z-]*))");
  const std::string whole = joined(text);
  for (std::sregex_iterator at(whole.begin(), whole.end(), command), end; at != end; ++at) {
    std::vector<std::string> verb = {(*at)[1]};
    const std::string rest = (*at)[2];
    if (verb[0] == "routes" || verb[0] == "topology")
      verb.push_back(rest.substr(1, rest.find(' ', 1) - 1));
    const std::string help = help_of(verb);
    if (help.empty()) continue;
    for (std::sregex_iterator one(rest.begin(), rest.end(), option); one != end; ++one) {
      const std::string name = (*one)[1];
      if (!std::regex_search(help, std::regex("(^|[ ,])" + name + "($|[ ,\\n])")))
        unknown.push_back(verb[0] + " " + name);
    }
  }
  return unknown;
}

TEST(Deploy, TheUnitsUseOptionsThatExist) {
  ASSERT_EQ(units().size(), 4u);
  for (const fs::path& unit : units())
    EXPECT_THAT(unknown_options(text_of(unit)), ::testing::IsEmpty()) << unit;
  EXPECT_THAT(unknown_options("text\ncotillion plan M --memory 0B \\\n  --memry B [--sed 1]\n"),
              ::testing::ElementsAre("plan --memry", "plan --sed"));
}

TEST(Deploy, ThePageForOperatorsUsesOptionsThatExist) {
  EXPECT_THAT(unknown_options(text_of(kRoot / "docs/use/your-network.md")), ::testing::IsEmpty());
}

TEST(Deploy, EveryVariableOfAUnitIsExplainedAtItsTop) {
  for (const fs::path& unit : units()) {
    const std::string text = text_of(unit);
    const std::size_t head = text.find("[Unit]");
    const std::regex variable(R"(\$\{?([A-Z_]+)\}?)");
    for (std::sregex_iterator at(text.begin(), text.end(), variable), end; at != end; ++at)
      EXPECT_THAT(text.substr(0, head), HasSubstr("#   " + (*at)[1].str() + "=")) << unit;
  }
}

TEST(Deploy, TheDaemonsHaveNoMorePowerThanTheyNeed) {
  for (const fs::path& unit : units())
    for (const char* line : {"User=cotillion", "NoNewPrivileges=yes", "ProtectSystem=strict",
                             "KillSignal=SIGTERM", "CapabilityBoundingSet=", "TimeoutStopSec="})
      EXPECT_THAT(text_of(unit), HasSubstr(std::string("\n") + line)) << unit;
}

TEST(Deploy, SystemdHasNothingToSayAgainstTheUnits) {
  if (program_path("systemd-analyze").empty()) GTEST_SKIP() << "systemd is not installed";
  const fs::path folder = fs::temp_directory_path() / fmt::format("cotillion-units-{}", ::getpid());
  fs::create_directories(folder);
  // stderr is where it complains, and it wants programs that are there and templates with a name.
  std::string words = "exec 2>&1; systemd-analyze verify --man=no";
  for (const fs::path& unit : units()) {
    const fs::path copy =
        folder / std::regex_replace(unit.filename().string(), std::regex("@"), "@TYO");
    std::ofstream(copy) << std::regex_replace(text_of(unit), std::regex("/usr/bin/cotillion"),
                                              COTILLION_BINARY);
    words += " " + copy.string();
  }
  const auto said =
      child_output({"/bin/sh", "-c", words + " || true"}, {.time = Duration{60'000'000'000'000}});
  fs::remove_all(folder);
  ASSERT_TRUE(said.has_value()) << said.error().message;
  EXPECT_EQ(*said, "");
}

}  // namespace
}  // namespace cotillion
