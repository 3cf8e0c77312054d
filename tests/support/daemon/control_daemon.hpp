// Islands and edges of a test that speak with a real coordinator, each in a thread of its own.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "daemon/control_client.hpp"

namespace cotillion::testing {

// Of islands A, B, C, …, by index: island A, edge of A, island B, …
// A daemon without packets: it is ready at once, and reports every round when it has ended.
class Daemon final : public MemberHost {
 public:
  Daemon(int port, int index, const std::string& version, RoundId dies_after = 0)
      : dies_after_(dies_after) {
    MemberSettings settings;
    settings.zero = zero_;
    settings.silence_timeout = Duration{60'000'000'000'000};
    settings.hello = {std::string(1, char('A' + index / 2)),
                      index % 2 ? Role::kEdge : Role::kIsland,
                      boot_now(),
                      fmt::format("127.0.0.1:{}", 1 + index),
                      {},
                      version,
                      ""};
    member.emplace(instant_now(zero_), settings);
    thread_ = std::thread([this, port] { live(port); });
  }
  ~Daemon() { thread_.join(); }
  void wait() {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([] {});
  }

  void send(const Message& message) override { client_->send(message); }
  void prepare() override { unprepared_ = true; }
  void play(Instant) override {}
  void stop(RoundId after, const std::string&) override { last_ = after; }

  std::optional<Member> member;  // to be looked at after wait()

 private:
  void live(int port) {
    auto client =
        ControlClient::connect(fmt::format("127.0.0.1:{}", port), Duration{30'000'000'000'000});
    ASSERT_TRUE(client.has_value()) << client.error().message;
    client_ = &*client;
    member->begin(now(), *this);
    while (take_turn(*client_, *member, *this, zero_, Duration{5'000'000'000})) {
      if (std::exchange(unprepared_, false)) member->ready(now(), *this);
      if (member->origin() == kNever && !last_) continue;
      while (member->origin() != kNever && reported_ < member->last_round() &&
             member->job_assignment().start_of(reported_ + 2, member->origin()) <= now()) {
        RoundReport report;
        report.round = ++reported_;
        member->report(now(), report, *this);
      }
      if (dies_after_ > 0 && reported_ >= dies_after_) return;
      if (last_ && reported_ >= std::min(*last_, member->last_round()))
        member->stopped(now(), *this);
    }
  }
  [[nodiscard]] Instant now() const { return instant_now(zero_); }

  WallClock zero_ = wall_clock_now();
  ControlClient* client_ = nullptr;
  bool unprepared_ = false;
  RoundId reported_ = 0, dies_after_;
  std::optional<RoundId> last_;
  std::thread thread_;
};

}  // namespace cotillion::testing
