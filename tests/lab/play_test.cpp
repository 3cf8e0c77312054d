// Plans that are played in a lab by the real daemons, through the verb.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/lab/lab_of_three.hpp"

namespace cotillion {
namespace {

using Json = nlohmann::json;

class LabPlay : public testing::LabOfThree {
 protected:
  // The lab's JSON; notes go where its text goes, so they stand before it.
  [[nodiscard]] Json answer() const {
    const std::string text = said();
    const auto begin = text.find("{\n");
    if (begin == std::string::npos) return {};
    return Json::parse(text.substr(begin, text.rfind('}') + 1 - begin), nullptr, false);
  }

  // Its exit code, when nothing is left of it.
  int play(std::vector<std::string> further, const std::string& faults = "") {
    // Where nothing is to be missing a machine that stops for a moment is waited for.
    const char* const grace = faults.empty() ? "1s" : "400ms";
    if (!faults.empty()) {
      std::ofstream(folder_ / "faults.toml") << faults;
      further.insert(further.end(), {"--faults", (folder_ / "faults.toml").string()});
    }
    further.emplace_back("--json");
    if (std::find(further.begin(), further.end(), "--grace") == further.end())
      further.insert(further.end(), {"--grace", grace});
    const pid_t lab = start_lab(further);
    const auto spaces = wait_until_built(lab);
    const int code = wait_for(lab);
    expect_nothing_left(spaces);
    return code;
  }

  // Of the coordinator; the lab's files are seen by its own processes only, and through them.
  [[nodiscard]] bool says(const std::string& words) const {
    for (const std::string& process : testing::marked(mark_))
      if (testing::text_of(testing::fs::path("/proc") / process / "root/mnt/0.log").find(words) !=
          std::string::npos)
        return true;
    return false;
  }
};

// Whoever rehearses checks every sum, and fails where one is wrong.
void expect_no_member_failed(const Json& answer) {
  for (const auto& problem : answer.at("problems"))
    EXPECT_TRUE(problem.get<std::string>().starts_with("coordinator ended with 1")) << problem;
}

bool everything_came(const Json& measured) {
  for (const Json& round : measured.at("rounds"))
    if (!round.at("absences").empty()) return false;
  return true;
}

TEST_F(LabPlay, PlaysRoundsThatAreComplete) {
  ASSERT_EQ(play({"--rounds", "3"}), 0) << said();
  const Json answer = this->answer();
  ASSERT_TRUE(answer.is_object()) << said();
  EXPECT_EQ(answer.at("problems"), Json::array());
  const Json& rounds = answer.at("measured").at("rounds");
  ASSERT_EQ(rounds.size(), 3u);
  for (const Json& round : rounds)
    for (const Json& clique : round.at("cliques"))
      EXPECT_TRUE(clique.at("complete").get<bool>()) << clique;
  EXPECT_TRUE(everything_came(answer.at("measured")));
  EXPECT_GT(answer.at("emulator").at("packets").get<int>(), 0);
}

TEST_F(LabPlay, CountsPacketsOfEveryStreamOnEveryLink) {
  ASSERT_EQ(play({"--rounds", "2"}), 0) << said();
  const Json multicast = answer().at("multicast");
  EXPECT_TRUE(multicast.at("is_real").get<bool>()) << multicast;
  EXPECT_EQ(multicast.at("streams"), 3);
  EXPECT_EQ(multicast.at("links"), 7);  // three up, and two links in both directions
  EXPECT_GT(multicast.at("packets").get<int>(), 0);
}

TEST_F(LabPlay, HoldsMemoryAndLatenessAgainstTheSimulation) {
  ASSERT_EQ(play({"--rounds", "3"}), 0) << said();
  const Json answer = this->answer();
  for (const Json& edge : answer.at("sides").at("edges")) {
    EXPECT_EQ(edge.at("streams"), 2);
    const double slot = edge.at("slot_bytes"), streams = edge.at("streams");
    const Json& simulated = edge.at("seen").at(0);
    const Json& measured = edge.at("seen").at(1);
    const Json& beyond = measured.at("beyond_simulated");
    const double packets = (measured.at("memory_peak_bytes").get<double>() -
                            simulated.at("memory_peak_bytes").get<double>()) /
                           slot;
    EXPECT_DOUBLE_EQ(beyond.at("packets"), packets);
    EXPECT_DOUBLE_EQ(beyond.at("packets_a_stream"), packets / streams);
    EXPECT_EQ(beyond.at("verdict") == "within", packets / streams <= 2) << edge;
    EXPECT_GT(measured.at("late_ms").get<double>(), 0) << "nothing real is that punctual";
    EXPECT_GT(measured.at("late_packets").get<double>(), 0);
    EXPECT_EQ(simulated.at("late_packets"), 0);
  }
  for (const Json& clique : answer.at("sides").at("cliques")) {
    EXPECT_GT(clique.at("store_and_forward_ms").get<double>(), 0);
    EXPECT_GT(clique.at("seen").at(1).at("emulator_ms").get<double>(), 0);
  }
  for (const Json& link : answer.at("measured").at("links")) {
    EXPECT_GT(link.at("packet_ms").get<double>(), 0);
    EXPECT_LE(link.at("late_p50_ms").get<double>(), link.at("late_p99_ms").get<double>());
    EXPECT_LE(link.at("late_p99_ms").get<double>(), link.at("late_max_ms").get<double>());
    EXPECT_GT(link.at("late_max_ms").get<double>(), 0);
  }
}

// Streams of two seconds: the next one begins when the one before it has left, and that is summed,
// and waited for, meanwhile. Nobody says that it is streamed, because the plan does.
TEST_F(LabPlay, PlaysRoundsThatOverlap) {
  std::string map = testing::text_of(folder_ / "map.toml");
  const std::pair<std::string, std::string> slower[] = {
      {"20Gbps", "0.8Gbps"}, {"5ms", "150ms"}, {"7ms", "170ms"}};
  for (const auto& [was, is] : slower)
    for (auto at = map.find('"' + was); at != std::string::npos; at = map.find('"' + was))
      map.replace(at + 1, was.size(), is);
  std::ofstream(folder_ / "slow.toml") << map;
  ASSERT_EQ(wait_for(start({"plan", (folder_ / "slow.toml").string(), "--schedule", "all-to-all",
                            "--relax", "all", "--objective", "paper-streamed", "--fragments", "8",
                            "--headroom", "5%", "-o", (folder_ / "plan.json").string()},
                           "/dev/null")),
            0);
  ASSERT_EQ(play({"--rounds", "5", "--grace", "500ms"}), 0) << said();
  const Json answer = this->answer();
  ASSERT_TRUE(answer.is_object()) << said();
  EXPECT_EQ(answer.at("problems"), Json::array());
  EXPECT_TRUE(answer.at("multicast").at("is_real").get<bool>()) << said();
  const Json& measured = answer.at("measured");
  EXPECT_EQ(measured.at("settings").at("exchange"), "streamed");
  EXPECT_EQ(measured.at("settings").at("fragments"), "8");
  EXPECT_EQ(measured.at("added_slack_ms"), 0.0);
  ASSERT_EQ(measured.at("rounds").size(), 5u);
  EXPECT_TRUE(everything_came(measured));
  for (const Json& round : measured.at("rounds"))
    EXPECT_GT(round.at("planned_ms").get<double>(), measured.at("played_ms").get<double>() / 5)
        << "rounds overlap";
  for (const Json& island : measured.at("islands"))
    EXPECT_EQ(island.at("counters").at("overtaken"), 0);
  EXPECT_TRUE(measured.at("exact").at("lived_ms").is_number()) << measured.at("exact");
}

TEST_F(LabPlay, PlaysWithoutPrivilegesToo) {
  const auto findings = examine({.rootless = true});
  if (!can_run(findings)) GTEST_SKIP() << "no rootless lab here:\n" << findings_text(findings);
  ASSERT_EQ(play({"--rounds", "3", "--rootless"}), 0) << said();
  EXPECT_EQ(answer().at("measured").at("rounds").size(), 3u);
}

TEST_F(LabPlay, RepairsEveryLossOnLastHops) {
  ASSERT_EQ(play({"--rounds", "6"}, "[[loss]]\non = \"last-hops\"\nrate = 0.03\n"), 0) << said();
  const Json answer = this->answer();
  int resends = 0;
  for (const Json& edge : answer.at("measured").at("edges"))
    resends += edge.at("counters").at("resends").get<int>();
  EXPECT_GT(resends, 0) << said();
  EXPECT_TRUE(everything_came(answer.at("measured")));
}

TEST_F(LabPlay, FinishesUnderLossDuplicatesAndReordering) {
  const int code = play({"--rounds", "6"},
                        testing::text_of(COTILLION_SOURCE_DIR "/examples/faults/rough-links.toml"));
  ASSERT_TRUE(code == 0 || code == 1) << said();
  const Json answer = this->answer();
  ASSERT_TRUE(answer.is_object()) << said();
  expect_no_member_failed(answer);
  EXPECT_EQ(answer.at("measured").at("rounds").size(), 6u);
  const Json& measured = answer.at("measured");
  EXPECT_EQ(code == 0, everything_came(measured)) << said();
  // Multicast stays real: what is lost or doubled on a link is accounted for on the next.
  EXPECT_TRUE(answer.at("multicast").at("is_real").get<bool>()) << said();
  EXPECT_GT(answer.at("emulator").at("lost").get<int>(), 0) << said();
  // Whatever an edge put out came to its island, on the second try where the first was lost.
  for (std::size_t island = 0; island < 3; ++island)
    EXPECT_EQ(measured.at("islands").at(island).at("counters").at("placed"),
              measured.at("edges").at(island).at("counters").at("outputs"))
        << said();
}

TEST_F(LabPlay, GoesOnWithoutAnIslandThatDies) {
  ASSERT_EQ(play({"--rounds", "5"}, "[[dead]]\nisland = \"C\"\nfrom = \"1s\"\n"), 1) << said();
  const Json answer = this->answer();
  ASSERT_TRUE(answer.is_object()) << said();
  expect_no_member_failed(answer);
  const Json& rounds = answer.at("measured").at("rounds");
  ASSERT_EQ(rounds.size(), 5u);
  EXPECT_TRUE(rounds.front().at("absences").empty()) << rounds.front();
  for (const char* who : {"A", "B"}) {
    const Json& absences = rounds.back().at("absences");
    EXPECT_TRUE(std::any_of(absences.begin(), absences.end(), [&](const Json& absence) {
      return absence.at("at") == who && absence.at("from") == "C";
    })) << absences;
  }
  EXPECT_TRUE(answer.at("multicast").at("is_real").get<bool>()) << said();
}

TEST_F(LabPlay, RefusesFaultsThatItCannotPlay) {
  std::ofstream(folder_ / "faults.toml") << "[[restart]]\nisland = \"C\"\nfrom = \"1s\"\n";
  const pid_t lab = start_lab({"--faults", (folder_ / "faults.toml").string()});
  EXPECT_EQ(wait_for(lab), 2);
  EXPECT_NE(said().find("faults.toml:3:8: restart[0].from: an edge that ends in a lab does not"),
            std::string::npos)
      << said();
}

// Stands for a program that averages: it finds three namespaces, and goes into each.
constexpr const char* kRival = R"(shell: sh -c '
  for space in $(echo "$COTILLION_SPACES" | tr , " "); do
    nsenter --net="$space" test -e /sys/class/net || exit 5; echo into $space; done
  test "$COTILLION_BYTES" = 200000 || exit 6
  for time in $(seq "$COTILLION_TIMES"); do echo ms $time.5; done')";

TEST_F(LabPlay, LetsOthersAverageOverTheSameLinks) {
  ASSERT_EQ(play({"--rounds", "1", "--rival-times", "4", "--rival", kRival}), 0) << said();
  const Json rivals = answer().at("rivals");
  EXPECT_EQ(rivals.at("ours_rounds"), 1);
  ASSERT_EQ(rivals.at("others").size(), 1u);
  const Json& other = rivals.at("others").front();
  EXPECT_EQ(other.at("name"), "shell");
  EXPECT_EQ(other.at("times_ms"), Json({2.5, 3.5, 4.5}));  // the first is not counted
  EXPECT_EQ(other.at("problem"), "");
}

TEST_F(LabPlay, SaysWhenOthersFail) {
  ASSERT_EQ(play({"--rounds", "1", "--rival", "sh -c 'echo no such library; exit 9'"}), 1)
      << said();
  EXPECT_EQ(answer().at("rivals").at("others").front().at("problem"),
            "ended with 9: no such library");
}

TEST_F(LabPlay, EndsCleanlyAfterCtrlCInTheMiddle) {
  const pid_t lab = start_lab({"--rounds", "2000", "--json"});
  const auto spaces = wait_until_built(lab);
  int looks = 0;
  while (!says("round 2 of 2000") && ::waitpid(lab, nullptr, WNOHANG) == 0 && ++looks < 6000)
    ::usleep(10'000);
  ::kill(lab, SIGINT);
  EXPECT_EQ(wait_for(lab), 0) << said();
  expect_nothing_left(spaces);
  const Json answer = this->answer();
  ASSERT_TRUE(answer.is_object()) << said();
  expect_no_member_failed(answer);
  const std::size_t rounds = answer.at("measured").at("rounds").size();
  EXPECT_GE(rounds, 2u);
  EXPECT_LT(rounds, 2000u);
}

TEST_F(LabPlay, EndsCleanlyWhenItIsAskedToBeforeItPlays) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const pid_t lab = start_lab({"--rounds", "2000", "--json"});
    const auto spaces = wait_until_built(lab);
    ::kill(lab, signal);
    // On a busy machine round one may have begun: then it is played, and told.
    EXPECT_TRUE(wait_for(lab) != 0 || !answer().at("measured").at("rounds").empty()) << said();
    expect_nothing_left(spaces);
  }
}

TEST_F(LabPlay, EndsAtOnceWhenItIsAskedToTwice) {
  const pid_t lab = start_lab({"--rounds", "2000", "--json"});
  const auto spaces = wait_until_built(lab);
  ::kill(lab, SIGTERM);
  ::usleep(100'000);
  ::kill(lab, SIGTERM);
  EXPECT_NE(wait_for(lab), 0);
  expect_nothing_left(spaces);
}

TEST_F(LabPlay, LeavesNothingWhenTheJobFails) {
  // Edges that wait for nobody: no two clocks are as exact as that.
  const pid_t lab = start_lab({"--rounds", "1", "--grace", "0ms"});
  const auto spaces = wait_until_built(lab);
  EXPECT_EQ(wait_for(lab), 3);
  expect_nothing_left(spaces);
  // The same reason of seven programs is told once.
  const std::string words = "but edges wait 0.0 ms";
  const auto first = said().find(words);
  EXPECT_NE(first, std::string::npos) << said();
  EXPECT_EQ(said().find(words, first + 1), std::string::npos) << said();
}

TEST_F(LabPlay, LeavesNothingWhenItsReaderHasGone) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t lab = start({"lab", (folder_ / "plan.json").string(), "--rounds", "1"},
                          "/proc/self/fd/" + std::to_string(ends[1]));
  const auto spaces = wait_until_built(lab);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(wait_for(lab), 3);
  expect_nothing_left(spaces);
}

TEST_F(LabPlay, LeavesNothingWhenItIsKilledInTheMiddle) {
  const pid_t lab = start_lab({"--rounds", "2000"});
  const auto spaces = wait_until_built(lab);
  int looks = 0;
  while (!says("round 2 of 2000") && ::waitpid(lab, nullptr, WNOHANG) == 0 && ++looks < 6000)
    ::usleep(10'000);
  ::kill(lab, SIGKILL);
  EXPECT_EQ(wait_for(lab), 128 + SIGKILL);
  expect_nothing_left(spaces);
}

}  // namespace
}  // namespace cotillion
