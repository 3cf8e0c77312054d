// A coordinator with six members whose lines the test speaks, in a time that the test keeps.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "job/coordinator.hpp"
#include "tests/support/job/conversation.hpp"

namespace cotillion::testing {

inline constexpr WallClock kWallZero = 1'700'000'000'000'000'000;

class CoordinatorTest : public ::testing::Test, public CoordinatorOutbox {
 protected:
  CoordinatorTest() {
    Map map = testing::example_map("isosceles");
    map.payload = {2'000'000};
    plan_ = testing::written_plan(std::move(map), "pairs");
    settings_.version = "1.0";
    settings_.zero = kWallZero;
    settings_.rounds = 2;
  }

  Coordinator& make() {
    auto made = Coordinator::make(now_, plan_.plan, plan_.text, settings_);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    coordinator_ = std::make_unique<Coordinator>(std::move(*made));
    return *coordinator_;
  }

  static Hello hello(int index) {
    return {std::string(1, char('A' + index / 2)),
            index % 2 ? Role::kEdge : Role::kIsland,
            BootId(7 + index),
            fmt::format("127.0.0.1:{}", 1000 + 10 * index),
            {},
            "1.0",
            ""};
  }
  void say(ConnectionId from, const Message& message) {
    coordinator_->on_message(now_, from, message, *this);
  }
  // Answers every ping so long after it was sent, with a clock so far ahead.
  void answer_pings(Duration trip, std::int64_t ahead_ns = 0) {
    for (bool any = true; any;) {
      any = false;
      for (auto& [connection, list] : std::exchange(sent_, {}))
        for (const Message& message : list)
          if (const auto* ping = std::get_if<Ping>(&message)) {
            any = true;
            now_ = instant_of(ping->sent, kWallZero) + trip;
            const WallClock came = ping->sent + trip.ps / 2000 + ahead_ns;
            say(connection, Pong{ping->number, ping->sent, came, came});
          } else {
            kept_[connection].push_back(message);
          }
    }
  }
  void join_all() {
    for (int i = 0; i < 6; ++i) say(i, hello(i));
    answer_pings({100'000'000});
  }
  void ready_all(Duration trip = {100'000'000}, std::int64_t ahead_ns = 0) {
    for (int i = 0; i < 6; ++i) say(i, Ready{});
    let_measure(trip, ahead_ns);
  }
  void let_measure(Duration trip = {100'000'000}, std::int64_t ahead_ns = 0) {
    while (coordinator_->state() == CoordinatorState::kMeasuring) {
      now_ = std::max(now_, coordinator_->next_deadline());
      coordinator_->on_time(now_, *this);
      answer_pings(trip, ahead_ns);
    }
  }
  void begin() {
    make();
    join_all();
    ready_all();
    now_ = coordinator_->origin();
    coordinator_->on_time(now_, *this);
    EXPECT_EQ(coordinator_->state(), CoordinatorState::kPlaying);
  }
  static RoundReport report(RoundId round) {
    RoundReport report;
    report.round = round;
    return report;
  }
  template <class T>
  const T* heard(ConnectionId who) {
    const T* last = nullptr;
    for (auto* lists : {&kept_, &sent_})
      for (const Message& message : (*lists)[who])
        if (const T* one = std::get_if<T>(&message)) last = one;
    return last;
  }

  void send(ConnectionId to, const Message& message) override { sent_[to].push_back(message); }
  void close(ConnectionId connection) override { closed_.push_back(connection); }
  void note(const std::string& line) override { notes_.push_back(line); }

  testing::PlanAndText plan_;
  CoordinatorSettings settings_;
  std::unique_ptr<Coordinator> coordinator_;
  Instant now_{0};
  std::map<ConnectionId, std::vector<Message>> sent_, kept_;
  std::vector<ConnectionId> closed_;
  std::vector<std::string> notes_;
};

}  // namespace cotillion::testing
