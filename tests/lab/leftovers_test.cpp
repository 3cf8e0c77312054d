// After every lab, however it ended: no process, no namespace, no route, no file.
#include "tests/lab/lab_of_three.hpp"

namespace cotillion {
namespace {

class Leftovers : public testing::LabOfThree {
 protected:
  [[nodiscard]] pid_t start_probe(std::vector<std::string> further) const {
    further.emplace_back("--probe");
    return start_lab(further);
  }
};

TEST_F(Leftovers, NoneAfterALabThatWentWell) {
  const pid_t lab = start_probe({"--trains", "1"});
  const auto spaces = wait_until_built(lab);
  EXPECT_EQ(wait_for(lab), 0) << said();
  expect_nothing_left(spaces);
  EXPECT_NE(said().find("Multicast is real"), std::string::npos) << said();
}

TEST_F(Leftovers, NoneAfterALabThatFailed) {
  std::ofstream(folder_ / "faults.toml") << "[[down]]\non = \"A-B\"\n";
  const pid_t lab = start_probe({"--trains", "1", "--faults", (folder_ / "faults.toml").string()});
  const auto spaces = wait_until_built(lab);
  EXPECT_EQ(wait_for(lab), 1) << said();
  expect_nothing_left(spaces);
}

TEST_F(Leftovers, NoneAfterCtrlC) {
  const pid_t lab = start_probe({"--trains", "1000"});
  const auto spaces = wait_until_built(lab);
  ::kill(lab, SIGINT);
  EXPECT_EQ(wait_for(lab), 3) << said();
  expect_nothing_left(spaces);
}

TEST_F(Leftovers, NoneAfterTheLabWasKilled) {
  for (const bool rootless : {false, true}) {
    std::vector<std::string> further{"--trains", "1000"};
    if (rootless) further.emplace_back("--rootless");
    const pid_t lab = start_probe(further);
    const auto spaces = wait_until_built(lab);
    ::kill(lab, SIGKILL);
    EXPECT_EQ(wait_for(lab), 128 + SIGKILL);
    expect_nothing_left(spaces);
  }
}

TEST_F(Leftovers, NoneAfterAnyOfItsProcessesWasKilled) {
  // From the last to the first: the one that plays, and the one between.
  for (const bool last : {true, false}) {
    const pid_t lab = start_probe({"--trains", "1000"});
    const auto spaces = wait_until_built(lab);
    std::set<pid_t> others;
    for (const std::string& process : testing::marked(mark_)) others.insert(std::stoi(process));
    others.erase(lab);
    ASSERT_EQ(others.size(), 2u);
    ::kill(last ? *others.rbegin() : *others.begin(), SIGKILL);
    EXPECT_EQ(wait_for(lab), 128 + SIGKILL) << said();
    expect_nothing_left(spaces);
  }
}

}  // namespace
}  // namespace cotillion
