// The whole conversation over loopback, without the packets of data. No times are asserted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/control_host.hpp"
#include "tests/support/daemon/control_daemon.hpp"
#include "tests/support/job/conversation.hpp"

namespace cotillion {
namespace {

using testing::Daemon;
using ::testing::HasSubstr;
using testing::milliseconds;

const testing::PlanAndText& plan() {
  static const testing::PlanAndText kPlan = [] {
    Map map = testing::example_map("isosceles");
    map.payload = {2'000'000};
    return testing::written_plan(std::move(map), "pairs");
  }();
  return kPlan;
}

CoordinatorSettings patient(int rounds) {
  CoordinatorSettings settings;
  settings.version = "test";
  settings.zero = wall_clock_now();
  settings.rounds = rounds;
  settings.lead = milliseconds(300);
  settings.job_settings.grace = milliseconds(200);  // machines that run tests are busy
  settings.pings = 8;
  settings.report_timeout = milliseconds(60'000);
  settings.silence_timeout = milliseconds(60'000);
  return settings;
}

struct Played {
  std::unique_ptr<Coordinator> coordinator;
  std::vector<std::unique_ptr<Daemon>> daemons;
  std::vector<std::string> notes;
};

Played play(const CoordinatorSettings& settings, const std::vector<RoundId>& dies_after,
            RoundId stop_in_round = 0) {
  Played played;
  auto server = ControlServer::listen("127.0.0.1:0");
  EXPECT_TRUE(server.has_value()) << server.error().message;
  auto made = Coordinator::make(instant_now(settings.zero), plan().plan, plan().text, settings);
  played.coordinator = std::make_unique<Coordinator>(std::move(*made));
  for (int i = 0; i < 6; ++i)
    played.daemons.push_back(
        std::make_unique<Daemon>(server->port(), i, "test", dies_after[std::size_t(i)]));
  CoordinatorHooks hooks;
  hooks.note = [&](const std::string& channel) { played.notes.push_back(channel); };
  hooks.asked_to_stop = [&]() -> std::string {
    const bool now = stop_in_round > 0 && played.coordinator->rounds_reported() >= stop_in_round;
    return now ? "asked to" : "";
  };
  host(*server, *played.coordinator, settings.zero, hooks);
  for (auto& daemon : played.daemons) daemon->wait();
  return played;
}

TEST(ControlStream, CarriesAWholeJob) {
  const Played played = play(patient(3), {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(played.coordinator->state(), CoordinatorState::kDone)
      << fmt::format("{}", fmt::join(played.notes, "\n"));
  EXPECT_EQ(played.coordinator->reason(), "all rounds are played");
  EXPECT_EQ(played.coordinator->accounts().size(), 18u);
  EXPECT_TRUE(played.coordinator->losses().empty());
  for (const auto& daemon : played.daemons)
    EXPECT_EQ(daemon->member->state(), MemberState::kDone) << daemon->member->reason();
}

TEST(ControlStream, LetsTheOthersPlayOnWhenOneIsGone) {
  const Played played = play(patient(3), {0, 0, 1, 0, 0, 0});
  EXPECT_EQ(played.coordinator->state(), CoordinatorState::kDone);
  ASSERT_EQ(played.coordinator->losses().size(), 1u);
  const Loss& loss = played.coordinator->losses()[0];
  EXPECT_EQ(loss.who, (Who{1, Role::kIsland}));
  EXPECT_EQ(loss.after, 1u);
  EXPECT_THAT(loss.reason, HasSubstr("lost its connection"));
  EXPECT_EQ(played.coordinator->accounts().size(), 16u);
}

TEST(ControlStream, StopsEveryoneCleanlyWhenAsked) {
  const Played played = play(patient(1000), {0, 0, 0, 0, 0, 0}, 1);
  EXPECT_EQ(played.coordinator->state(), CoordinatorState::kDone);
  EXPECT_EQ(played.coordinator->reason(), "asked to");
  for (const auto& daemon : played.daemons) {
    EXPECT_EQ(daemon->member->state(), MemberState::kDone) << daemon->member->reason();
    EXPECT_EQ(daemon->member->reason(), "asked to");
  }
}

TEST(ControlStream, TellsWhoIsRefusedWhy) {
  auto server = ControlServer::listen("127.0.0.1:0");
  ASSERT_TRUE(server.has_value());
  auto settings = patient(1);
  auto made = Coordinator::make(instant_now(settings.zero), plan().plan, plan().text, settings);
  Daemon stranger(server->port(), 6, "test");
  CoordinatorHooks hooks;
  bool refused = false;
  hooks.note = [&](const std::string& channel) {
    refused = refused || channel.find("no island of the plan is called 'D'") != std::string::npos;
  };
  hooks.asked_to_stop = [&]() -> std::string { return refused ? "seen" : ""; };
  host(*server, *made, settings.zero, hooks);
  stranger.wait();
  EXPECT_THAT(stranger.member->reason(), HasSubstr("no island of the plan is called 'D'"));
}

TEST(ControlStream, APortIsListenedToOnce) {
  auto server = ControlServer::listen("127.0.0.1:0");
  ASSERT_TRUE(server.has_value());
  const auto second = ControlServer::listen(fmt::format("127.0.0.1:{}", server->port()));
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().message, HasSubstr("another program has the port"));
}

TEST(ControlStream, WhoCallsNobodyIsToldSo) {
  int port = 0;
  {
    auto server = ControlServer::listen("127.0.0.1:0");
    ASSERT_TRUE(server.has_value());
    port = server->port();
  }
  const auto client = ControlClient::connect(fmt::format("127.0.0.1:{}", port), milliseconds(200));
  ASSERT_FALSE(client.has_value());
  EXPECT_THAT(client.error().message, HasSubstr("no coordinator answers at 127.0.0.1"));
}

}  // namespace
}  // namespace cotillion
