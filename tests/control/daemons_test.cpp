// The daemons as processes: a coordinator, three islands, three edges, and the example beside each
// island, on loopback multicast.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "job/outcome_loader.hpp"
#include "tests/support/base/process.hpp"
#include "tests/support/daemon/loopback_rig.hpp"
#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Process;
namespace fs = std::filesystem;

constexpr int kIslands = 3;
constexpr const char* kNames[kIslands] = {"A", "B", "C"};

class Daemons : public ::testing::Test {
 protected:
  Daemons() {
    folder_ = fs::temp_directory_path() / fmt::format("cotillion-daemons-{}", ::getpid());
    fs::create_directories(folder_ / "regions");
    Map map = testing::example_map("isosceles");
    map.payload = {281'600};
    for (Aggregator& aggregator : map.aggregators) aggregator.spec.chunk = {1408};
    std::ofstream(folder_ / "plan.json")
        << testing::written_plan(std::move(map), "all-to-all").text;
  }
  ~Daemons() override {
    processes_.clear();
    fs::remove_all(folder_);
  }

  // Of loopback, and of nobody else at this time.
  static std::string address(int last) {
    const int number = ::getpid() % 60'000 + 256;
    return fmt::format("127.{}.{}.{}", number / 256, number % 256, last);
  }
  Process& start(const std::string& name, std::vector<std::string> words) {
    return processes_.emplace(name, Process(std::move(words), folder_ / (name + ".log")))
        .first->second;
  }
  void start_coordinator(const std::vector<std::string>& more) {
    const std::string port = std::to_string(testing::free_ports(1));
    coordinator_ = "127.0.0.1:" + port;
    std::vector<std::string> words{COTILLION_BINARY,
                                   "coordinator",
                                   folder_ / "plan.json",
                                   "--listen",
                                   coordinator_,
                                   "--element",
                                   "i32",
                                   "--grace",
                                   "300ms",
                                   "--start-in",
                                   "500ms",
                                   "--port",
                                   std::to_string(testing::free_ports(1)),
                                   "-o",
                                   folder_ / "outcome.json"};
    words.insert(words.end(), more.begin(), more.end());
    start("coordinator", words);
  }
  void start_everyone(const std::vector<std::string>& more) {
    start_coordinator(more);
    for (int i = 0; i < kIslands; ++i) {
      const std::string name = kNames[i], socket = folder_ / "regions" / (name + ".sock");
      start("edge " + name,
            {COTILLION_BINARY, "edge", "--island", name, "--coordinator", coordinator_, "--listen",
             address(10 + i), "--interface", "127.0.0.1"});
      start("island " + name,
            {COTILLION_BINARY, "island", "--island", name, "--coordinator", coordinator_,
             "--listen", address(1 + i), "--interface", "127.0.0.1", "--socket", socket});
      start("training " + name, {COTILLION_AVERAGE, socket, "5"});
    }
  }
  Process& operator[](const std::string& name) { return processes_.at(name); }
  std::string said(const std::string& name) { return processes_.at(name).said(); }
  std::string all_said() {
    std::string all;
    for (const auto& [name, process] : processes_) all += "--- " + name + "\n" + process.said();
    return all;
  }
  // Everyone ends by itself.
  void expect_ends() {
    for (auto& [name, process] : processes_) EXPECT_NE(process.wait(), -1000) << name << all_said();
  }
  std::vector<std::string> regions_left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / "regions"))
      names.push_back(entry.path().filename());
    return names;
  }
  // A job in its third round, or later.
  void play_into_round_three() {
    start_everyone({"--rounds", "12"});
    ASSERT_TRUE((*this)["coordinator"].says("round 2 of 12 is reported")) << all_said();
  }

  fs::path folder_;
  std::string coordinator_;
  std::map<std::string, Process> processes_;
};

TEST_F(Daemons, PlayTenRoundsWithExactSumsAndLeaveNothingBehind) {
  start_everyone({"--rounds", "10"});
  for (auto& [name, process] : processes_) EXPECT_EQ(process.wait(), 0) << name << all_said();
  // Everyone's element i began as 3·n·(i mod 5) and learned 5 rounds of 3·n, n from 1 to 3.
  for (const char* name : kNames)
    EXPECT_THAT(said(fmt::format("training {}", name)),
                HasSubstr("10 rounds, 0 with somebody missing"));
  EXPECT_THAT(said("training A"), HasSubstr("learned 15, sum 2956800, 30 to 54"));
  EXPECT_THAT(said("training B"), HasSubstr("learned 30, sum 2956800, 30 to 54"));
  EXPECT_THAT(said("training C"), HasSubstr("learned 45, sum 2956800, 30 to 54"));
  std::stringstream text;
  text << std::ifstream(folder_ / "outcome.json").rdbuf();
  const auto outcome = read_outcome(text.str(), "outcome.json");
  ASSERT_TRUE(outcome.has_value()) << to_text(outcome.error().front());
  ASSERT_EQ(outcome->outcome.rounds.size(), 10u);
  for (const RoundOutcome& round : outcome->outcome.rounds) {
    EXPECT_THAT(round.absences, IsEmpty());
    EXPECT_TRUE(round.cliques.front().complete);
  }
  EXPECT_THAT(regions_left(), IsEmpty());
}

TEST_F(Daemons, AnIslandThatIsKilledIsNamedByAllAndTheRestPlayOn) {
  play_into_round_three();
  (*this)["island B"].signal(SIGKILL);
  expect_ends();
  EXPECT_THAT(said("coordinator"), AllOf(HasSubstr("island B lost its connection"),
                                         HasSubstr("event=lost who=\"island B\" after_round=")));
  EXPECT_EQ((*this)["coordinator"].wait(), 1) << all_said();
  for (const char* name : {"A", "C"}) {
    EXPECT_EQ((*this)[fmt::format("island {}", name)].wait(), 0) << all_said();
    EXPECT_THAT(said(fmt::format("island {}", name)), HasSubstr("B in 200 of 200 chunks"));
    EXPECT_THAT(said(fmt::format("training {}", name)),
                HasSubstr("B lacks in 200 of 200 chunks from chunk 0 on"));
  }
  EXPECT_EQ((*this)["training B"].wait(), 3);
  EXPECT_THAT(said("training B"), HasSubstr("the agent is gone in round"));
}

TEST_F(Daemons, AnEdgeThatIsKilledLeavesItsIslandAloneAndNobodyElse) {
  play_into_round_three();
  (*this)["edge B"].signal(SIGKILL);
  expect_ends();
  EXPECT_THAT(said("coordinator"), HasSubstr("edge of B lost its connection"));
  EXPECT_THAT(said("island B"),
              AllOf(HasSubstr("A in 200 of 200 chunks"), HasSubstr("C in 200 of 200 chunks"),
                    HasSubstr("event=\"its own edge is silent\" edge=127.")));
  EXPECT_THAT(said("island A"), Not(HasSubstr("silent")));
  EXPECT_THAT(said("island A"), Not(HasSubstr("missing")));
  for (const char* name : kNames)
    EXPECT_EQ((*this)[fmt::format("island {}", name)].wait(), 0) << all_said();
}

TEST_F(Daemons, EverybodyEndsWhenTheCoordinatorIsKilled) {
  play_into_round_three();
  (*this)["coordinator"].signal(SIGKILL);
  expect_ends();
  for (const char* name : kNames) {
    EXPECT_EQ((*this)[fmt::format("island {}", name)].wait(), 3) << all_said();
    EXPECT_EQ((*this)[fmt::format("edge {}", name)].wait(), 3) << all_said();
    EXPECT_THAT(said(fmt::format("island {}", name)),
                HasSubstr("the connection to the coordinator is lost while playing"));
    EXPECT_THAT(said(fmt::format("training {}", name)),
                HasSubstr("the job has failed: the connection to the coordinator is lost"));
  }
  EXPECT_THAT(regions_left(), IsEmpty());
}

TEST_F(Daemons, TrainingCodeThatIsKilledTakesItsIslandOutOfTheJob) {
  play_into_round_three();
  (*this)["training C"].signal(SIGKILL);
  expect_ends();
  EXPECT_THAT(said("coordinator"), HasSubstr("island C refuses: its training code (process"));
  EXPECT_EQ((*this)["island C"].wait(), 3);
  EXPECT_EQ((*this)["island A"].wait(), 0) << all_said();
  EXPECT_THAT(said("training A"), HasSubstr("C lacks in 200 of 200 chunks"));
  EXPECT_THAT(regions_left(), IsEmpty());
}

TEST_F(Daemons, ASignalStopsAJobCleanlyAfterARoundThatAllHavePlayed) {
  start_everyone({"--rounds", "100000"});
  ASSERT_TRUE((*this)["coordinator"].says("round 2 of 100000 is reported")) << all_said();
  (*this)["coordinator"].signal(SIGTERM);
  for (auto& [name, process] : processes_) EXPECT_EQ(process.wait(), 0) << name << all_said();
  for (const char* name : kNames)
    EXPECT_THAT(said(fmt::format("training {}", name)), HasSubstr("0 with somebody missing"));
  // The last round that was played is merged, and so all islands are equal.
  const std::string told = said("coordinator");
  const auto end = told.find(" of 100000 rounds reported by everyone");
  ASSERT_NE(end, std::string::npos) << told;
  const auto begin = told.rfind(' ', end - 1) + 1;
  for (const char* name : kNames)
    EXPECT_THAT(said(fmt::format("training {}", name)),
                HasSubstr(fmt::format(" {} rounds,", told.substr(begin, end - begin))));
  EXPECT_THAT(regions_left(), IsEmpty());
}

TEST_F(Daemons, SayWhatIsWrongBeforeTheyBegin) {
  const std::string edge = folder_ / "no-folder" / "A.sock";
  EXPECT_EQ(start("a", {COTILLION_BINARY, "edge", "--island", "A", "--listen", "10.0.0"}).wait(),
            2);
  EXPECT_THAT(said("a"), HasSubstr("--listen: \"10.0.0\" is no IPv4 address"));
  int number = 0;
  for (const char* nowhere : {"0.0.0.0", "239.1.1.1", "127.0.0.1:0"}) {
    const std::string name = fmt::format("nowhere {}", ++number);
    EXPECT_EQ(start(name, {COTILLION_BINARY, "edge", "--island", "A", "--listen", nowhere}).wait(),
              2);
    EXPECT_THAT(said(name), HasSubstr("name one address and port of this host"));
  }
  for (const char* nobody : {"127.0.0.1", "127.0.0.1:99999", "host:"}) {
    const std::string name = fmt::format("nobody {}", ++number);
    EXPECT_EQ(start(name, {COTILLION_BINARY, "edge", "--island", "A", "--listen", "127.0.0.1",
                           "--coordinator", nobody})
                  .wait(),
              2);
    EXPECT_THAT(said(name), HasSubstr("ends in no port; write it like 192.0.2.1:29800"));
  }
  EXPECT_EQ(start("b", {COTILLION_BINARY, "island", "--island", "A", "--listen", "127.0.0.1",
                        "--socket", edge})
                .wait(),
            3);
  EXPECT_THAT(said("b"), HasSubstr("choose another --socket"));
  EXPECT_EQ(start("c", {COTILLION_BINARY, "edge", "--island", "A", "--listen", "127.0.0.1",
                        "--coordinator", "127.0.0.1:1", "--join-within", "300ms"})
                .wait(),
            3);
  EXPECT_THAT(said("c"), HasSubstr("no coordinator answers at 127.0.0.1:1 after 300.0 ms"));
}

}  // namespace
}  // namespace cotillion
