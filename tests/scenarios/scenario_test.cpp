// A scenario is a session at the terminal: `$ cotillion …`, all that it prints, `[exit N]`.
// Lines outside such blocks are prose for the reader and are kept. Replaying a file yields a file
// of the same form; the test is that the two are equal, and blessing is writing the new one.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/base/sanitized.hpp"
#include "tests/support/base/test_per_file.hpp"

namespace {

namespace fs = std::filesystem;
using cotillion::testing::test_name;

const std::string kPrompt = "$ cotillion ";
const std::string kExit = "[exit ";

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The block that this command deserves: what it prints on both streams, and its exit code.
std::string run(const std::string& arguments) {
  const std::string command = "cd '" COTILLION_SOURCE_DIR
                              "' && COTILLION_QUIET=1 '" COTILLION_BINARY "' " +
                              arguments + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot be run\n";
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  if (!text.empty() && text.back() != '\n') text += '\n';
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return text + kExit + std::to_string(code) + "]\n";
}

// In Markdown a block ends with its fence, and commands shown to readers succeed.
std::string replayed(const std::string& scenario, bool markdown) {
  std::string text;
  const std::string end = markdown ? "```" : kExit;
  bool in_block = false;
  for (const std::string& line : lines_of(scenario)) {
    const bool command = line.starts_with(kPrompt);
    const bool ends = in_block && line.starts_with(end);
    if (command || !in_block || (ends && markdown)) text += line + "\n";
    if (command) {
      std::string block = run(line.substr(kPrompt.size()));
      const std::string success = kExit + "0]\n";
      if (markdown && block.ends_with(success)) block.resize(block.size() - success.size());
      text += block;
    }
    in_block = command || (in_block && !ends);
  }
  return text;
}

// What differs between the common beginning and the common end, with the command above it.
std::string difference(const std::string& expected, const std::string& got) {
  const auto before = lines_of(expected), after = lines_of(got);
  const auto first = std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first -
                     before.begin();
  auto before_end = before.size(), after_end = after.size();
  while (before_end > std::size_t(first) && after_end > std::size_t(first) &&
         before[before_end - 1] == after[after_end - 1])
    --before_end, --after_end;
  std::string text;
  for (auto i = first; i-- > 0;)
    if (before[i].starts_with(kPrompt)) {
      text = "  " + before[i] + "\n";
      break;
    }
  for (auto i = std::size_t(first); i < before_end; ++i) text += "- " + before[i] + "\n";
  for (auto i = std::size_t(first); i < after_end; ++i) text += "+ " + after[i] + "\n";
  return text;
}

std::vector<fs::path> scenarios() {
  std::vector<fs::path> files{COTILLION_SOURCE_DIR "/README.md",
                              COTILLION_SOURCE_DIR "/docs/use/first-hour.md"};
  for (const auto& entry : fs::directory_iterator(COTILLION_SOURCE_DIR "/tests/scenarios"))
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

bool searches_nine_cities(const std::string& scenario) {
  return scenario.find("nine-cities") != std::string::npos &&
         (scenario.find("best found") != std::string::npos ||
          scenario.find("ruled out or priced") != std::string::npos);
}

class Scenario : public ::testing::TestWithParam<fs::path> {};

TEST_P(Scenario, PrintsWhatItPrintedBefore) {
  const std::string expected = read_text(GetParam());
  ASSERT_NE(expected.find(kPrompt), std::string::npos) << "a scenario needs a command";
  if (searches_nine_cities(expected) && cotillion::testing::is_left_to_make_sanitize())
    GTEST_SKIP() << cotillion::testing::kLeftToMakeSanitize;
  const std::string got = replayed(expected, GetParam().extension() == ".md");
  if (std::getenv("COTILLION_BLESS") != nullptr) {
    std::ofstream(GetParam(), std::ios::binary) << got;
    return;
  }
  EXPECT_TRUE(expected == got) << GetParam().filename().string() << ", - expected, + printed:\n"
                               << difference(expected, got)
                               << "If that is as it should be: COTILLION_BLESS=1 ctest "
                               << "--preset release -R 'Scenario.*/" << test_name({GetParam(), 0})
                               << "$'";
}

INSTANTIATE_TEST_SUITE_P(Terminal, Scenario, ::testing::ValuesIn(scenarios()), test_name);

}  // namespace
