// `cotillion coordinator` as a process, with islands and edges that are threads of this test.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "job/outcome_loader.hpp"
#include "tests/support/base/http_client.hpp"
#include "tests/support/daemon/control_daemon.hpp"
#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

using testing::Daemon;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class CoordinatorVerb : public ::testing::Test {
 protected:
  CoordinatorVerb() {
    folder_ = fs::temp_directory_path() / fmt::format("cotillion-coordinator-{}", ::getpid());
    fs::create_directories(folder_);
    Map map = testing::example_map("isosceles");
    map.payload = {2'000'000};
    plan_ = testing::written_plan(std::move(map), "pairs");
    std::ofstream(folder_ / "plan.json") << plan_.text;
  }
  ~CoordinatorVerb() override { fs::remove_all(folder_); }

  void begin(std::vector<std::string> more) {
    std::vector<std::string> words = {COTILLION_BINARY,
                                      "coordinator",
                                      folder_ / "plan.json",
                                      "--listen",
                                      listen_,
                                      "--grace",
                                      "200ms",
                                      "--start-in",
                                      "300ms",
                                      "-o",
                                      folder_ / "outcome.json"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ASSERT_EQ(
        ::posix_spawn(&process_, COTILLION_BINARY, &actions, nullptr, arguments.data(), environ),
        0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    heard_ = ::fdopen(ends[0], "r");
    const std::string first = read_until("coordinator on port ");
    if (const auto at = first.find("port "); at != std::string::npos)
      port_ = std::atoi(first.c_str() + at + 5);
  }
  // The next line with these words; what it says until then is kept.
  std::string read_until(const std::string& words) {
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), int(line.size()), heard_) != nullptr) {
      said_ += line.data();
      if (std::string(line.data()).find(words) != std::string::npos) return line.data();
    }
    return {};
  }
  int end() {
    read_until("\n\n never said");
    std::fclose(heard_);
    int status = 0;
    ::waitpid(process_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::vector<std::unique_ptr<Daemon>> everyone() const {
    std::vector<std::unique_ptr<Daemon>> daemons;
    for (int i = 0; i < 6; ++i)
      daemons.push_back(std::make_unique<Daemon>(port_, i, COTILLION_VERSION));
    return daemons;
  }

  std::string listen_ = "127.0.0.1:0";
  fs::path folder_;
  testing::PlanAndText plan_;
  pid_t process_ = 0;
  std::FILE* heard_ = nullptr;
  int port_ = 0;
  std::string said_;
};

TEST_F(CoordinatorVerb, PlaysAJobAndWritesWhatWasMeasured) {
  begin({"--rounds", "2"});
  const auto daemons = everyone();
  EXPECT_EQ(end(), 0) << said_;
  EXPECT_THAT(said_, HasSubstr("island A joined from 127.0.0.1:1"));
  EXPECT_THAT(said_, HasSubstr("round 2 of 2 is reported by everyone"));
  EXPECT_THAT(said_, HasSubstr("all rounds are played: 2 of 2 rounds reported by everyone"));
  std::stringstream text;
  text << std::ifstream(folder_ / "outcome.json").rdbuf();
  const auto outcome = read_outcome(text.str(), "outcome.json");
  ASSERT_TRUE(outcome.has_value()) << to_text(outcome.error().front());
  EXPECT_EQ(outcome->kind, OutcomeKind::kMeasured);
  EXPECT_EQ(outcome->outcome.rounds.size(), 2u);
}

TEST_F(CoordinatorVerb, TellsEveryoneToStopWhenItIsTold) {
  begin({"--rounds", "100000"});
  const auto daemons = everyone();
  read_until("round 1 of 100000 is reported");
  ::kill(process_, SIGTERM);
  EXPECT_EQ(end(), 0) << said_;
  EXPECT_THAT(said_, HasSubstr("asked to stop by a signal"));
  for (const auto& daemon : daemons) {
    daemon->wait();
    EXPECT_EQ(daemon->member->state(), MemberState::kDone) << daemon->member->reason();
    EXPECT_EQ(daemon->member->reason(), "asked to stop by a signal");
  }
}

TEST_F(CoordinatorVerb, NamesThoseWhoDoNotCome) {
  begin({"--join-within", "500ms"});
  Daemon alone(port_, 0, COTILLION_VERSION);
  EXPECT_EQ(end(), 3) << said_;
  EXPECT_THAT(said_, HasSubstr("these have not joined: edge of A, island B, edge of B"));
  alone.wait();
  EXPECT_THAT(alone.member->reason(), HasSubstr("these have not joined"));
}

TEST_F(CoordinatorVerb, CanBeLookedAtWhileItPlays) {
  begin({"--rounds", "100000", "--metrics", "127.0.0.1:0", "--log", "json"});
  const auto metrics = said_.find("\"event\":\"metrics\"");
  ASSERT_NE(metrics, std::string::npos) << said_;
  const int pages = std::atoi(said_.c_str() + said_.find("\"port\":", metrics) + 7);
  EXPECT_THAT(testing::http_get(pages, "/status"), HasSubstr("\"state\": \"gathering\""));
  const auto daemons = everyone();
  read_until("round 1 of 100000 is reported");
  // A page may be a fifth of a second old, in which the state changed.
  std::string status;
  do status = testing::http_get(pages, "/status");
  while (status.find("\"state\": \"playing\"") == std::string::npos &&
         status.starts_with("HTTP/1.1 200"));
  EXPECT_THAT(status, HasSubstr("\"who\": \"edge of C\""));
  const std::string counters = testing::http_get(pages, "/metrics");
  EXPECT_THAT(counters, HasSubstr("\ncotillion_coordinator_state{state=\"playing\"} 1\n"));
  EXPECT_THAT(counters, HasSubstr("\ncotillion_coordinator_members_joined 6\n"));
  EXPECT_THAT(counters, HasSubstr("cotillion_coordinator_member_clock_error_seconds{"));
  ::kill(process_, SIGTERM);
  EXPECT_EQ(end(), 0) << said_;
  std::istringstream lines(said_.substr(0, said_.find("asked to stop by a signal: ")));
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(Json::accept(line)) << line;
}

TEST_F(CoordinatorVerb, RefusesAPageThatItCannotServe) {
  begin({"--metrics", "9464"});
  EXPECT_EQ(end(), 3);
  EXPECT_THAT(said_, HasSubstr("--metrics: cannot listen on 9464: it is no ADDRESS:PORT"));
}

TEST_F(CoordinatorVerb, RefusesAnAddressThatIsNotItsOwn) {
  listen_ = "203.0.113.1:1";
  begin({});
  EXPECT_EQ(end(), 3);
  EXPECT_THAT(said_, HasSubstr("cannot listen on 203.0.113.1:1"));
}

}  // namespace
}  // namespace cotillion
