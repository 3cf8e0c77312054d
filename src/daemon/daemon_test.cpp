// Whole jobs in one process: three islands with their edges, training code and a coordinator, on
// real sockets and in real time. Sanitizers see all of it; tests/control has the same as processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "daemon/edge_daemon.hpp"
#include "daemon/island_daemon.hpp"
#include "exchange/exchange_client.hpp"
#include "job/measured.hpp"
#include "tests/support/daemon/loopback_rig.hpp"
#include "tests/support/daemon/switchboard.hpp"
#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Switchboard;
namespace fs = std::filesystem;

constexpr int kIslands = 3;
constexpr std::uint64_t kElements = 3520;

struct JobSettings {
  std::string schedule = "all-to-all";
  int rounds = 4;
  int shards = 1;
  Exchange exchange = Exchange::kWhole;
  int training_rounds = 2;
  double lose_sums = 0;
  int leaves = -1;  // this island's training code goes after round one
  bool overlapped = false;
};

// Streams take longer than flights and what edges wait for: the next one begins when the one before
// it has left, while that is on its way and waited for.
testing::PlanAndText slow_plan(Map map) {
  for (Island& island : map.islands) island.up = island.down = {double(kElements * 4 * 8) / 1.25};
  for (Aggregator& aggregator : map.aggregators) aggregator.spec.memory = {1'000'000'000};
  PlanSettings settings;
  settings.relax.overlap = true;
  settings.objective = Objective::kPaperStreamed;
  settings.fragments = 4;
  return testing::written_plan(std::move(map), "all-to-all", settings);
}

// An address of loopback that no other test uses at this time.
Ipv4Address own_address(int number) {
  return 0x7f00'0000u | (unsigned(::getpid()) % 65'000 + 256) << 8u | unsigned(number + 1);
}

class Job {
 public:
  explicit Job(const JobSettings& settings) : settings_(settings) {
    folder_ = fs::temp_directory_path() / fmt::format("cotillion-daemon-{}", ::getpid());
    fs::create_directories(folder_);
    Map map = testing::example_map("isosceles");
    map.payload = Bytes{std::int64_t(kElements * 4)};
    for (Aggregator& aggregator : map.aggregators) aggregator.spec.chunk = Bytes{256};
    plan_ = settings.overlapped ? slow_plan(std::move(map))
                                : testing::written_plan(std::move(map), settings.schedule);
    CoordinatorSettings coordinating;
    coordinating.zero = zero_;
    coordinating.version = "test";
    coordinating.rounds = settings.rounds;
    coordinating.shards = settings.shards;
    coordinating.port = testing::free_ports(settings.shards);
    coordinating.lead = {300'000'000'000};
    coordinating.job_settings.element = Element::kI32;
    coordinating.job_settings.exchange = settings.exchange;
    coordinating.job_settings.fragments = settings.exchange == Exchange::kWhole ? 1 : 4;
    coordinating.job_settings.grace = {400'000'000'000};  // a sanitizer is slow
    coordinating.report_timeout = coordinating.silence_timeout = {30'000'000'000'000};
    board_ = std::make_unique<Switchboard>(plan_.plan, plan_.text, coordinating);
    for (int i = 0; i < kIslands; ++i) {
      threads_.emplace_back([this, i] { play_edge(i); });
      threads_.emplace_back([this, i] { play_island(i); });
      threads_.emplace_back([this, i] { train(i); });
    }
    for (std::thread& thread : threads_) thread.join();
    board_->wait();
  }
  ~Job() { fs::remove_all(folder_); }

  [[nodiscard]] const Coordinator& coordinator() const { return board_->coordinator(); }
  [[nodiscard]] const PlanFile& plan() const { return plan_.plan; }
  [[nodiscard]] const std::string& said() const { return board_->said(); }
  [[nodiscard]] int hasty() const { return board_->hasty(); }
  [[nodiscard]] std::vector<std::string> left_behind() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path());
    return names;
  }

  std::array<std::vector<float>, kIslands> models;
  std::array<double, kIslands> learned{};
  std::array<std::string, kIslands> words;  // how training ended, and what was missing on the way
  std::array<bool, 2 * kIslands> good{};    // islands, then edges
  std::array<IslandReading, kIslands> readings;
  std::array<EdgeReading, kIslands> edge_readings;

 private:
  [[nodiscard]] std::string socket(int island) const {
    return folder_ / fmt::format("{}.sock", island);
  }
  [[nodiscard]] MemberDaemonSettings daemon(int island, Role role, Endpoint own, BootId boot) {
    MemberDaemonSettings settings;
    settings.hello.island = std::string(1, char('A' + island));
    settings.hello.role = role;
    settings.hello.boot = boot;
    settings.hello.address = to_text(own);
    settings.hello.version = "test";
    settings.zero = zero_;
    settings.silence_timeout = {60'000'000'000'000};
    return settings;
  }

  void play_edge(int island) {
    auto channel = board_->plug_in();
    EdgeDaemonSettings settings;
    settings.place.own = {own_address(10 + island), 29'900};
    settings.place.interface = testing::kLoopback;
    settings.place.zero = zero_;
    settings.place.boot = boot_now();
    settings.on_send.loss = settings_.lose_sums;
    EdgeDaemon edge(settings);
    MemberDaemon member(channel, edge,
                        daemon(island, Role::kEdge, settings.place.own, settings.place.boot));
    good[std::size_t(kIslands + island)] = member.run();
    if (edge.host() != nullptr) edge_readings[std::size_t(island)] = edge.host()->reading();
    channel.cut();
  }
  void play_island(int island) {
    auto channel = board_->plug_in();
    IslandDaemonSettings settings;
    settings.place.own = {own_address(island), 29'900};
    settings.place.interface = testing::kLoopback;
    settings.place.zero = zero_;
    settings.place.boot = boot_now();
    auto listener = AgentListener::open(socket(island));
    ASSERT_TRUE(listener.has_value()) << listener.error().message;
    IslandDaemon agent(settings, std::move(*listener));
    MemberDaemon member(channel, agent,
                        daemon(island, Role::kIsland, settings.place.own, settings.place.boot));
    good[std::size_t(island)] = member.run();
    if (agent.host() != nullptr) readings[std::size_t(island)] = agent.host()->reading();
    channel.cut();
  }
  void train(int island) {
    auto& end = words[std::size_t(island)];
    auto client = ExchangeClient::join(socket(island), kElements, {30'000'000'000'000});
    ASSERT_TRUE(client.has_value()) << client.error().message;
    std::vector<float>& model = models[std::size_t(island)];
    const float own = 3.0F * float(island + 1);
    for (std::uint64_t i = 0; i < kElements; ++i) model.push_back(own * float(i % 7));
    const auto offered = client->offer([&](std::uint64_t first, std::span<float> values) {
      std::copy_n(model.begin() + std::ptrdiff_t(first), values.size(), values.begin());
    });
    ASSERT_TRUE(offered.has_value()) << offered.error().message;
    for (;;) {
      const auto next = client->wait({30'000'000'000'000});
      if (!next) {
        end += next.error().message;
        return;
      }
      for (std::size_t i = 0; i < next->values.size(); ++i)
        model[next->first + i] += next->values[i];
      end += client->describe(*next);
      const RoundId round = next->account.round;
      client->done(*next);
      if (settings_.leaves == island) return;
      if (round <= RoundId(settings_.training_rounds) && next->fragment == 0) {
        for (float& x : model) x += own;
        learned[std::size_t(island)] += own;
      }
      if (const auto stepped = client->step(); !stepped) {
        end += stepped.error().message;
        return;
      }
    }
  }

  JobSettings settings_;
  WallClock zero_ = wall_clock_now();
  fs::path folder_;
  testing::PlanAndText plan_;
  std::unique_ptr<Switchboard> board_;
  std::vector<std::thread> threads_;
};

// Corrections leave the sum of all islands as it is; when nobody trains any more all are equal.
void expect_exact(const Job& job) {
  for (std::uint64_t i = 0; i < kElements; ++i) {
    double sum = 0;
    for (int island = 0; island < kIslands; ++island)
      sum += 3.0 * (island + 1) * double(i % 7) + job.learned[std::size_t(island)];
    for (const auto& model : job.models) ASSERT_EQ(double(model[i]), sum / kIslands) << i;
  }
}

void expect_good(const Job& job) {
  EXPECT_EQ(job.coordinator().state(), CoordinatorState::kDone) << job.said();
  EXPECT_THAT(job.coordinator().losses(), IsEmpty()) << job.said();
  for (const bool good : job.good) EXPECT_TRUE(good);
  for (const std::string& words : job.words)
    EXPECT_EQ(words, "the job has ended: all rounds are played");
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

TEST(Daemons, PlayAJobToItsEndWithExactSums) {
  Job job(JobSettings{});
  expect_good(job);
  expect_exact(job);
  for (const Account& account : job.coordinator().accounts()) {
    EXPECT_THAT(account.report.absences, IsEmpty());
    if (account.who.role == Role::kEdge) continue;
    for (const double share : account.report.mixing) EXPECT_NEAR(share, 1.0 / 3, 1e-12);
  }
}

TEST(Daemons, WaitBetweenTurnsInTheLastRoundToo) {
  const JobSettings settings;
  const Job job(settings);
  expect_good(job);
  // A round is opened late, and closed late, at most.
  EXPECT_LE(job.hasty(), 2 * settings.rounds * 2 * kIslands);
}

TEST(Daemons, SitRoundsOutWhereThePlanSaysSo) {
  JobSettings settings;
  settings.schedule = "pairs";  // A and B, then B and C
  Job job(settings);
  expect_good(job);
  for (std::uint64_t i = 0; i < kElements; ++i) {
    double before = 0, after = 0;
    for (int island = 0; island < kIslands; ++island) {
      before += 3.0 * (island + 1) * double(i % 7) + job.learned[std::size_t(island)];
      after += double(job.models[std::size_t(island)][i]);
    }
    ASSERT_EQ(after, before) << i;
  }
}

TEST(Daemons, StreamFragmentsOverSeveralShards) {
  JobSettings settings;
  settings.shards = 2;
  settings.exchange = Exchange::kStreamed;
  Job job(settings);
  expect_good(job);
  expect_exact(job);
}

TEST(Daemons, PlayRoundsThatOverlap) {
  JobSettings settings;
  settings.overlapped = true;
  settings.exchange = Exchange::kStreamed;
  settings.rounds = 6;
  Job job(settings);
  expect_good(job);
  expect_exact(job);
  const JobAssignment& assignment = job.coordinator().job_assignment();
  const RoundAssignment part = assignment.part(1, 0, {0});
  EXPECT_EQ(assignment.live_rounds(), 3);
  EXPECT_GT(part.spec.last_deadline - assignment.settings().grace, assignment.start_of(2, {0}));
  for (const Account& account : job.coordinator().accounts())
    EXPECT_THAT(account.report.absences, IsEmpty());
  for (const IslandReading& reading : job.readings) {
    EXPECT_EQ(reading.receiver[ReceiverCount::kOvertaken], 0u);
    EXPECT_EQ(reading.receiver[ReceiverCount::kUnmerged], 0u);
  }
  // They know when they copied and merged. On loopback nothing takes as long as the plan says.
  const auto exact = measured_outcome(job.plan(), assignment, job.coordinator().accounts()).exact;
  ASSERT_TRUE(exact.has_value());
  EXPECT_EQ(exact->rounds_needed, 6u);
  ASSERT_TRUE(exact->lived.has_value());
  EXPECT_GT(exact->lived->absolute.ps, 0);
}

TEST(Daemons, AskAgainForWhatWasLostOnTheLastHop) {
  JobSettings settings;
  settings.lose_sums = 0.1;
  Job job(settings);
  expect_good(job);
  expect_exact(job);
  std::uint64_t resent = 0;
  for (const EdgeReading& reading : job.edge_readings) resent += reading[EdgeCount::kResends];
  EXPECT_GT(resent, 0u);
}

TEST(Daemons, GoOnWhenTrainingCodeLeavesAndSayWho) {
  JobSettings settings;
  settings.leaves = 1;
  settings.rounds = 5;
  Job job(settings);
  EXPECT_THAT(job.said(), HasSubstr("island B refuses: its training code (process"));
  EXPECT_FALSE(job.good[1]);
  EXPECT_TRUE(job.good[0]) << job.said();
  EXPECT_TRUE(job.good[2]) << job.said();
  EXPECT_THAT(job.words[0], HasSubstr("B lacks in 55 of 55 chunks from chunk 0 on"));
  EXPECT_THAT(job.words[0], HasSubstr("the job has ended: all rounds are played"));
  EXPECT_THAT(job.left_behind(), IsEmpty());
}

}  // namespace
}  // namespace cotillion
