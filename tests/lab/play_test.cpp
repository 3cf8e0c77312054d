// Plans that are played in a lab by the real daemons, through the verb.
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
    if (!faults.empty()) {
      std::ofstream(folder_ / "faults.toml") << faults;
      further.insert(further.end(), {"--faults", (folder_ / "faults.toml").string()});
    }
    further.insert(further.end(), {"--json", "--patience", "400ms"});
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
  const int code = play({"--rounds", "6"}, R"(
[[loss]]
on = "core"
rate = 0.005
[[loss]]
on = "last-hops"
rate = 0.005
[[duplicate]]
on = "everywhere"
rate = 0.01
by = "2ms"
[[reorder]]
on = "everywhere"
rate = 0.01
by = "3ms"
)");
  ASSERT_TRUE(code == 0 || code == 1) << said();
  const Json answer = this->answer();
  ASSERT_TRUE(answer.is_object()) << said();
  expect_no_member_failed(answer);
  EXPECT_EQ(answer.at("measured").at("rounds").size(), 6u);
  EXPECT_EQ(code == 0, everything_came(answer.at("measured"))) << said();
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
