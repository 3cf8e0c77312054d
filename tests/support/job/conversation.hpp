// A coordinator and all members of a plan talking in virtual time: streams that keep their order
// and take their time, clocks that are off, and one trouble for each member that has one. For tests
// of who takes part; packets of data are not sent.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "job/coordinator.hpp"
#include "job/member.hpp"
#include "tests/support/plan/plans.hpp"

namespace cotillion::testing {

constexpr Duration milliseconds(std::int64_t count) {
  return {count * 1'000'000'000};
}

struct PlanAndText {
  std::string text;
  PlanFile plan;
};

// A plan as it is read from its file.
[[nodiscard]] inline PlanAndText written_plan(Map map, const std::string& schedule,
                                              const PlanSettings& settings = {}) {
  const auto fixture = fixture_of(std::move(map));
  const auto named = named_schedule(schedule, fixture->map, fixture->routes);
  COTILLION_CHECK(named.has_value());
  const Plan plan = make_plan(fixture->network, *named, settings);
  std::string text = to_json(fixture->network, plan, {"0", "test", 1, {}}).dump(1) + "\n";
  auto read = read_plan(text, "plan.json");
  COTILLION_CHECK(read.has_value());
  return {std::move(text), std::move(*read)};
}

enum class Trouble : std::uint8_t {
  kNone,
  kNeverJoins,
  kDies,          // and its connection is reset
  kDiesSilently,  // and nobody is told
  kBreaks,        // the connection, for both
  kSlowToPrepare,
  kStopsReporting,
};

struct ConversationSettings {
  CoordinatorSettings coordinator;
  Duration delay_most = milliseconds(20);
  Duration skew_most = milliseconds(3000);
  std::vector<Trouble> troubles;  // by member, islands and edges in turn
  std::vector<Instant> when;
  Instant coordinator_dies = kNever;
  Instant user_stops = kNever;

  // Timeout of seconds, as it would be on one machine.
  void hurry() {
    coordinator.version = "test";
    coordinator.zero = 1'700'000'000'000'000'000;
    coordinator.job_settings.grace = milliseconds(50);
    coordinator.lead = milliseconds(500);
    coordinator.ping_every = milliseconds(400);
    coordinator.join_timeout = milliseconds(5000);
    coordinator.ready_timeout = milliseconds(2000);
    coordinator.report_timeout = milliseconds(1000);
    coordinator.stop_timeout = milliseconds(1500);
    coordinator.silence_timeout = milliseconds(2500);
  }
};

class Conversation final : public CoordinatorOutbox {
 public:
  Conversation(const PlanAndText& plan, const ConversationSettings& settings, std::uint64_t seed)
      : plan_(plan), settings_(settings), random_(seed) {
    auto made = Coordinator::make(Instant{0}, plan.plan, plan.text, settings.coordinator);
    COTILLION_CHECK(made.has_value());
    coordinator_ = std::make_unique<Coordinator>(std::move(*made));
    const int n = plan.plan.map.island_count();
    settings_.troubles.resize(std::size_t(2 * n));
    settings_.when.resize(std::size_t(2 * n), Instant{0});
    for (int i = 0; i < 2 * n; ++i) players_.push_back(std::make_unique<Player>(*this, i));
  }

  // Until nothing is left to do, or for too long.
  void run(Instant most) {
    for (auto& player : players_) player->enter();
    at(settings_.user_stops, [this] {
      if (alive()) coordinator_->stop(now_, "somebody wants it", *this);
    });
    // The limit only matters to code that asks for a time and does nothing then.
    for (int steps = 0; now_ <= most && steps < 1'000'000; ++steps) {
      Instant next = queue_.empty() ? kNever : queue_.begin()->first.first;
      if (alive()) next = std::min(next, coordinator_->next_deadline());
      for (const auto& player : players_) next = std::min(next, player->next_deadline());
      if (next == kNever || next > most) break;
      now_ = std::max(now_, next);
      if (!queue_.empty() && queue_.begin()->first.first <= now_) {
        const auto then = std::move(queue_.begin()->second);
        queue_.erase(queue_.begin());
        then();
      }
      if (alive() && coordinator_->next_deadline() <= now_) coordinator_->on_time(now_, *this);
      for (auto& player : players_) player->on_time();
    }
  }

  class Player final : public MemberHost {
   public:
    Player(Conversation& network, int index)
        : network_(network),
          index_(index),
          who_{IslandId(index / 2), index % 2 ? Role::kEdge : Role::kIsland} {
      skew = {
          network.random_.between(-network.settings_.skew_most.ps, network.settings_.skew_most.ps)};
      MemberSettings mine;
      mine.zero = network.settings_.coordinator.zero;
      mine.silence_timeout = network.settings_.coordinator.silence_timeout;
      mine.hello = {network.plan_.plan.map.islands[who_.island].name,
                    who_.role,
                    BootId(100 + index),
                    fmt::format("host{}:1", index),
                    {},
                    "test",
                    ""};
      member = std::make_unique<Member>(own(), mine);
    }

    void enter() {
      const Trouble trouble = network_.settings_.troubles[std::size_t(index_)];
      if (trouble == Trouble::kNeverJoins) {
        dead = true;
        return;
      }
      network_.at(Instant{network_.random_.between(0, milliseconds(1000).ps)}, [this] {
        connected = true;
        member->begin(own(), *this);
      });
      network_.at(network_.settings_.when[std::size_t(index_)],
                  [this, trouble] { suffer(trouble); });
    }

    void send(const Message& message) override {
      if (std::holds_alternative<Stopped>(message)) said_stopped = true;
      network_.carry(to_coordinator_, connected, [this, message] {
        if (network_.alive())
          network_.coordinator_->on_message(network_.now_, index_, message, network_);
      });
    }
    void prepare() override {
      const bool slow = network_.settings_.troubles[std::size_t(index_)] == Trouble::kSlowToPrepare;
      network_.after(milliseconds(slow ? 60'000 : network_.random_.between(1, 500)), [this] {
        if (!dead) member->ready(own(), *this);
      });
    }
    void play(Instant origin) override {
      started = origin - skew;
      next_round(1);
    }
    void stop(RoundId after, const std::string&) override {
      last_ = after;
      if (after <= reported_)
        network_.after(milliseconds(1), [this] {
          if (!dead) member->stopped(own(), *this);
        });
    }

    void hear(const Message& message) {
      if (!dead && connected) member->on_message(own(), message, *this);
    }
    void lose(const std::string& why) {
      connected = false;
      if (!dead) member->on_lost(own(), why, *this);
    }
    void on_time() {
      if (next_deadline() <= network_.now_) member->on_time(own(), *this);
    }
    [[nodiscard]] Instant next_deadline() const {
      if (dead || !connected) return kNever;
      const Instant due = member->next_deadline();
      return due == kNever ? due : due - skew;
    }
    [[nodiscard]] Instant own() const { return network_.now_ + skew; }

    std::unique_ptr<Member> member;
    Duration skew;
    bool dead = false, connected = false, said_stopped = false, troubled = false;
    Instant started = kNever;            // round one, in true time
    std::vector<RoundAssignment> parts;  // one for each round that it has played
    std::vector<RoundReport> reports;

   private:
    friend class Conversation;

    void suffer(Trouble trouble) {
      // What has ended well before its trouble has had none.
      troubled = trouble != Trouble::kNone && !member->ended();
      if (!troubled) return;
      const auto tell_coordinator = [this] {
        if (network_.alive())
          network_.coordinator_->on_lost(network_.now_, index_, "reset by peer", network_);
      };
      if (trouble == Trouble::kDies || trouble == Trouble::kDiesSilently) {
        dead = true;
        connected = false;
        if (trouble == Trouble::kDies) network_.after(network_.delay(), tell_coordinator);
      } else if (trouble == Trouble::kBreaks && connected) {
        connected = false;
        network_.after(network_.delay(), tell_coordinator);
        network_.after(network_.delay(), [this] { lose("reset by peer"); });
      } else if (trouble == Trouble::kStopsReporting) {
        mute_ = true;
      }
    }

    // Reports the round when it has ended on its own clock.
    void next_round(RoundId round) {
      if (round > member->last_round() || member->ended()) return;
      parts.push_back(member->part(round));
      const Instant ends = member->job_assignment().start_of(round + 1, member->origin());
      network_.at(ends - skew, [this, round] {
        if (dead || mute_ || member->ended()) return;
        RoundReport report;
        report.round = reported_ = round;
        report.measured = Duration{std::int64_t(1000 * round + unsigned(index_))};
        reports.push_back(report);
        member->report(own(), report, *this);
        if (last_ != kOpen && round >= last_) return member->stopped(own(), *this);
        next_round(round + 1);
      });
    }

    static constexpr RoundId kOpen = ~RoundId(0);
    Conversation& network_;
    int index_;
    Who who_;
    Instant to_coordinator_{0}, to_member_{0};  // nothing overtakes what was sent before
    RoundId reported_ = 0, last_ = kOpen;
    bool mute_ = false;
  };

  void send(ConnectionId to, const Message& message) override {
    Player& player = *players_[std::size_t(to)];
    carry(player.to_member_, player.connected, [&player, message] { player.hear(message); });
  }
  void close(ConnectionId connection) override {
    Player& player = *players_[std::size_t(connection)];
    carry(player.to_member_, player.connected, [&player] { player.lose("closed"); });
  }
  void note(const std::string& line) override {
    notes.push_back(fmt::format("{:.1f} ms: {}", Duration{now_.ps}.ms(), line));
  }

  [[nodiscard]] bool alive() const { return now_ < settings_.coordinator_dies; }
  [[nodiscard]] const Coordinator& coordinator() const { return *coordinator_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Player>>& players() const { return players_; }
  [[nodiscard]] Instant now() const { return now_; }

  std::vector<std::string> notes;

 private:
  void at(Instant when, std::function<void()> then) {
    if (when != kNever)
      queue_.emplace(std::pair(std::max(when, now_), ++sequence_), std::move(then));
  }
  void after(Duration wait, std::function<void()> then) { at(now_ + wait, std::move(then)); }
  Duration delay() { return {random_.between(1'000'000, settings_.delay_most.ps)}; }
  void carry(Instant& last, bool connected, std::function<void()> then) {
    if (!connected) return;
    last = std::max(last, now_ + delay());
    at(last, std::move(then));
  }

  const PlanAndText& plan_;
  ConversationSettings settings_;
  Random random_;
  Instant now_{0};
  std::uint64_t sequence_ = 0;
  std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> queue_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<std::unique_ptr<Player>> players_;
};

}  // namespace cotillion::testing
