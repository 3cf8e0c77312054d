// Training through the runtime on real sockets, islands as processes, beside the same training by
// the simulator and by the formula.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/lab/lab_of_three.hpp"

namespace cotillion {
namespace {

using Json = nlohmann::json;

class LabTraining : public testing::LabOfThree {
 protected:
  void SetUp() override {
    LabOfThree::SetUp();
    if (IsSkipped()) return;
    // Slack for machines that are busy: rounds of 0.6 s, of which packets need 0.1.
    ASSERT_EQ(wait_for(start(
                  {"plan", (folder_ / "map.toml").string(), "--schedule", "all-to-all", "--slack",
                   "500ms", "--step-time", "170ms", "-o", (folder_ / "plan.json").string()},
                  "/dev/null")),
              0);
  }
  [[nodiscard]] pid_t start_training(const std::vector<std::string>& further) const {
    std::vector<std::string> arguments{"train",     (folder_ / "plan.json").string(),
                                       "--model",   "mlp",
                                       "--rate",    "0.01",
                                       "--data",    "synthetic:200kB",
                                       "--split",   "by-source",
                                       "--grace",   "200ms",
                                       "--windows", "16"};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return start(arguments, (folder_ / "said").string());
  }
  [[nodiscard]] Json answer() const {
    const std::string text = said();
    const auto begin = text.find("{\n");
    if (begin == std::string::npos) return {};
    return Json::parse(text.substr(begin, text.rfind('}') + 1 - begin), nullptr, false);
  }
  void expect_agreement(const std::string& policy, int steps, int corrections) {
    Json trainings;
    for (int tries = 0; tries < 3; ++tries) {
      const pid_t training = start_training(
          {"--policy", policy, "--steps", std::to_string(steps), "--evaluations", "4", "--exchange",
           "ideal", "--exchange", "simulated", "--exchange", "lab", "--json"});
      ASSERT_EQ(wait_for(training), 0) << said();
      trainings = answer().at("trainings");
      ASSERT_EQ(trainings.size(), 3u);
      const Json& lab = trainings[2].at("lab");
      if (lab.at("missing") == 0 && lab.at("late_copies") == 0) break;
    }
    const Json& lab = trainings[2].at("lab");
    EXPECT_EQ(lab.at("missing"), 0) << "this machine is too busy";
    EXPECT_EQ(lab.at("late_copies"), 0) << "this machine is too busy";
    EXPECT_GE(lab.at("corrections").get<int>(), corrections);
    EXPECT_EQ(lab.at("problems"), Json::array());
    const Json& ideal = trainings[0].at("points");
    for (const std::size_t other : {1u, 2u})
      for (std::size_t p = 0; p < ideal.size(); ++p) {
        const Json& made = trainings[other].at("points")[p];
        const auto near = [&](const char* what, double within) {
          EXPECT_NEAR(made.at(what).get<double>(), ideal[p].at(what).get<double>(), within)
              << policy << ", point " << p << " of " << trainings[other].at("recipe").at("name");
        };
        // A value that lies between two of eight bits may be rounded either way.
        const double rounding = policy.find("bf16") != policy.npos ? 10 : 1;
        near("loss_of_mean", 5e-6 * rounding);
        near("training_loss", 5e-6 * rounding);
        near("distance", 1e-5 * rounding * (1 + ideal[p].at("distance").get<double>()));
      }
  }
};

// A machine that does not get round to sending for 200 ms loses contributions; then there is
// nothing to compare, and it may try again.
TEST_F(LabTraining, LearnsTheSameIdeallySimulatedAndInTheLab) {
  // 74 steps of 170 ms: twenty rounds.
  for (const std::string policy :
       {"plan", "plan:fragments=4,progress=0.5", "plan:fragments=4,wire=bf16,progress=0.5",
        "plan:fragments=4,progress=0.5,momentum=0.3", "plan:own-weight=0.8"})
    expect_agreement(policy, 74, 60 * (policy.find("fragments") == policy.npos ? 1 : 4));
}

// Rounds of 0.8 s, of which the last packets may come 0.4 s after the next one has begun.
TEST_F(LabTraining, LearnsTheSameWhereRoundsOverlap) {
  ASSERT_EQ(wait_for(start(
                {"plan", (folder_ / "map.toml").string(), "--schedule", "all-to-all", "--payload",
                 "2GB", "--relax", "overlap", "--objective", "paper-streamed", "--fragments", "4",
                 "--step-time", "250ms", "-o", (folder_ / "plan.json").string()},
                "/dev/null")),
            0);
  for (const std::string policy : {"plan", "plan:progress=0.5,momentum=0.3"})
    expect_agreement(policy, 50, 3 * 13 * 4);
}

// For three seconds A and B do not hear each other, nor A and C. In the simulator and in the lab
// the same contributions are missing then, and models drift as far apart.
TEST_F(LabTraining, FaultsOfLinksChangeTheModelsAsInTheSimulator) {
  std::ofstream(folder_ / "faults.toml")
      << "[[down]]\non = \"A-B\"\nfrom = \"2s\"\nuntil = \"5s\"\n";
  // Of one training against another, where they differ most.
  const auto ratio = [](const Json& a, const Json& b) {
    double most = 1;
    for (std::size_t p = 1; p < a.at("points").size(); ++p) {
      const double now = a.at("points")[p].at("distance").get<double>() /
                         b.at("points")[p].at("distance").get<double>();
      most = std::max({most, now, 1 / now});
    }
    return most;
  };
  const std::pair<std::string, std::string> rules[] = {{"plan", "mean"},
                                                       {"plan", "own"},
                                                       {"plan:fragments=4,own-weight=0.5", "mean"},
                                                       {"plan:fragments=4,momentum=0.3", "mean"}};
  for (const auto& [policy, missing] : rules) {
    double apart = INFINITY;
    for (int tries = 0; tries < 3 && apart > 1.05; ++tries) {
      ASSERT_EQ(wait_for(start_training({"--steps", "40", "--evaluations", "8", "--exchange",
                                         "ideal", "--exchange", "simulated", "--exchange", "lab",
                                         "--json", "--policy", policy, "--missing", missing,
                                         "--faults", (folder_ / "faults.toml").string()})),
                0)
          << said();
      const Json trainings = answer().at("trainings");
      ASSERT_EQ(trainings.size(), 3u);
      EXPECT_GE(trainings[2].at("lab").at("missing").get<int>(), 12) << said();
      EXPECT_EQ(trainings[2].at("lab").at("problems"), Json::array());
      EXPECT_GT(ratio(trainings[1], trainings[0]), 1.5);
      apart = ratio(trainings[2], trainings[1]);
    }
    EXPECT_LT(apart, 1.05) << policy << ", " << missing;
  }
}

TEST_F(LabTraining, RefusesFaultsOfIslands) {
  std::ofstream(folder_ / "faults.toml") << "[[dead]]\nisland = \"C\"\nfrom = \"1s\"\n";
  const pid_t training =
      start_training({"--exchange", "lab", "--faults", (folder_ / "faults.toml").string()});
  EXPECT_EQ(wait_for(training), 2);
  EXPECT_NE(said().find("faults.toml: faults of islands, edges and clocks are simulated"),
            std::string::npos)
      << said();
}

TEST_F(LabTraining, LeavesNothingBehindWhenItIsInterruptedOrKilled) {
  for (const int signal : {SIGINT, SIGKILL}) {
    const pid_t training = start_training({"--steps", "100000", "--exchange", "lab"});
    const auto spaces = wait_until_built(training);
    int looks = 0;
    while (said().find("step 3") == std::string::npos &&
           ::waitpid(training, nullptr, WNOHANG) == 0 && ++looks < 6000)
      ::usleep(10'000);
    ::kill(training, signal);
    EXPECT_EQ(wait_for(training), signal == SIGKILL ? 128 + SIGKILL : 3) << said();
    expect_nothing_left(spaces);
  }
}

}  // namespace
}  // namespace cotillion
