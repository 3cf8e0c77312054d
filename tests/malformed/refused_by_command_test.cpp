// What a user sees of a malformed file: the exit code, which stream speaks, and the JSON.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

// One stream of a shell command run from the source folder.
std::string stream_of(const std::string& command, int& code) {
  const std::string line = "cd '" COTILLION_SOURCE_DIR "' && " + command;
  std::FILE* pipe = ::popen(line.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return text;
}

// The command is run twice, because a pipe carries one stream.
Outcome cotillion(const std::string& arguments) {
  const std::string command = "'" COTILLION_BINARY "' " + arguments;
  Outcome outcome;
  outcome.out = stream_of(command + " 2>/dev/null", outcome.code);
  int again = -1;
  outcome.err = stream_of(command + " 2>&1 >/dev/null", again);
  EXPECT_EQ(outcome.code, again);
  return outcome;
}

void expect_refused(const Outcome& outcome, const std::string& beginning) {
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.substr(0, beginning.size()), beginning) << outcome.err;
}

const std::string kMaps = "tests/malformed/maps/";
const std::string kSchedules = "tests/malformed/schedules/";

TEST(RefusedByCommand, TopologyCheckNamesFileAndLineOnStderr) {
  const std::string file = kMaps + "link-to-unknown-island.toml";
  expect_refused(cotillion("topology check " + file), file + ":11:12: links[1].ends: unknown");
}

TEST(RefusedByCommand, TopologyShowRefusesLikeCheck) {
  const std::string file = kMaps + "latency-without-unit.toml";
  expect_refused(cotillion("topology show " + file), file + ":11:");
}

TEST(RefusedByCommand, PlanRefusesAMalformedMap) {
  const std::string file = kMaps + "map-in-two-pieces.toml";
  expect_refused(cotillion("plan " + file), file + ":8:");
}

TEST(RefusedByCommand, PlanRefusesAMalformedSchedule) {
  const std::string file = kSchedules + "island-in-two-cliques.toml";
  expect_refused(cotillion("plan examples/nine-cities.toml --schedule " + file), file + ":7:");
}

TEST(RefusedByCommand, EveryMistakeIsListedAndCounted) {
  const Outcome outcome = cotillion("topology check " + kMaps + "twelve-mistakes-at-once.toml");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 13);
  EXPECT_NE(outcome.err.find("\n12 mistakes\n"), std::string::npos);
}

TEST(RefusedByCommand, AFileThatIsNotThereIsNamed) {
  expect_refused(cotillion("topology check no/such/map.toml"), "no/such/map.toml: cannot be read");
}

TEST(RefusedByCommand, AFolderIsNotAMap) {
  expect_refused(cotillion("topology check examples"), "examples: cannot be read");
}

TEST(RefusedByCommand, JsonSaysNotOkWithEveryField) {
  const std::string file = kMaps + "map-in-two-pieces.toml";
  const Outcome outcome = cotillion("topology check --json " + file);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "");
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json.at("file"), file);
  EXPECT_EQ(json.at("ok"), false);
  ASSERT_EQ(json.at("errors").size(), 2u);
  const auto& error = json.at("errors").at(0);
  EXPECT_EQ(error.at("file"), file);
  EXPECT_EQ(error.at("line"), 8);
  EXPECT_EQ(error.at("field"), "islands[2]");
  EXPECT_EQ(error.at("message"), "disconnected map: no path from LON to TYO");
  EXPECT_NE(error.at("remedy"), "");
}

TEST(RefusedByCommand, JsonIsValidForEveryMalformedMap) {
  for (const auto& entry : fs::directory_iterator(COTILLION_SOURCE_DIR "/" + kMaps)) {
    SCOPED_TRACE(entry.path().filename());
    int code = -1;
    const std::string text = stream_of(
        "'" COTILLION_BINARY "' topology check --json '" + entry.path().string() + "'", code);
    EXPECT_EQ(code, 2);
    const auto json = nlohmann::json::parse(text, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << text;
    EXPECT_EQ(json.at("ok"), false);
  }
}

}  // namespace
