// The one who keeps the job together, as a pure state machine: hands the plan to everyone, measures
// clocks, says when round one begins, collects what everyone reports, stops a job cleanly. Every
// wait has a deadline, and whoever misses one is named, with what it was to do and for how long.
//
//   gathering → assigned → measuring → started → playing → stopping → done or failed
#pragma once

#include <string>
#include <vector>

#include "job/messages.hpp"

namespace cotillion {

using ConnectionId = std::int64_t;  // as the host numbers them; never used twice
inline constexpr ConnectionId kNoConnection = -1;

// What the host does for the coordinator. None of these may call it back before returning.
class CoordinatorOutbox {
 public:
  virtual void send(ConnectionId to, const Message& message) = 0;
  // When what was sent before is on its way; the host need not report it as lost.
  virtual void close(ConnectionId connection) = 0;
  virtual void note(const std::string& line) = 0;  // for people

 protected:
  ~CoordinatorOutbox() = default;
};

enum class OnLoss : std::uint8_t {
  kGoOn,  // the others play on, and report what they miss
  kStop,  // the job ends for all
};

struct CoordinatorSettings {
  std::string version;  // members of another are refused
  WallClock zero = 0;   // what the coordinator's wall clock shows at Instant{0}
  ClockEstimate clock;  // how it stands to the true time, where that is known
  int rounds = 1;
  int epoch = 0;
  int exponent = 0;     // of i32 jobs
  double progress = 1;  // that merges keep (protocol/merge)
  Missing missing = Missing::kMeanOfPresent;
  JobSettings job_settings;
  std::uint16_t port = kUdpPort;     // of the groups
  int shards = 1;                    // threads that share the work at every member
  Duration lead{2'000'000'000'000};  // from everyone's readiness to round one, at least
  // Before the plan is handed out, and again, with a pause between, when everyone is ready:
  // programs that start are busy, and clocks that were read long ago have drifted.
  int pings = 4, pings_when_ready = 8;
  Duration ping_pause{20'000'000'000};
  Duration ping_every{1'000'000'000'000};
  OnLoss on_loss = OnLoss::kGoOn;
  // How long is waited: for everyone to join, to be ready, to report after the end of a round, to
  // stop, to say anything at all.
  Duration join_timeout{60'000'000'000'000};
  Duration ready_timeout{30'000'000'000'000};
  Duration report_timeout{5'000'000'000'000};
  Duration stop_timeout{10'000'000'000'000};
  Duration silence_timeout{10'000'000'000'000};
};

enum class CoordinatorState : std::uint8_t {
  kGathering,
  kAssigned,
  kMeasuring,  // clocks, when everyone is ready
  kStarted,    // round one is agreed on and has not begun
  kPlaying,
  kStopping,
  kDone,
  kFailed,
};

// A member that the job went on or ended without.
struct Loss {
  Who who;
  RoundId after = 0;  // the last round it reported
  Instant when;
  std::string reason;
};

// A member as it stands, for those who look.
struct MemberView {
  Who who;
  bool joined = false, lost = false;
  std::string address;
  ClockEstimate clock;  // against the coordinator's
  RoundId reported = 0;
};

struct Account {
  Who who;
  RoundReport report;
};

class Coordinator {
 public:
  // Refuses plans that cannot be played. The plan must outlive it; `text` is what it was read from.
  [[nodiscard]] static Result<Coordinator> make(Instant now, const PlanFile& plan, std::string text,
                                                const CoordinatorSettings& settings);

  void on_message(Instant now, ConnectionId from, const Message& message, CoordinatorOutbox& out);
  // The connection is gone, and whoever spoke through it.
  void on_lost(Instant now, ConnectionId connection, const std::string& why,
               CoordinatorOutbox& out);
  void on_time(Instant now, CoordinatorOutbox& out);
  [[nodiscard]] Instant next_deadline() const;
  // Ends the job after the round in play, for everyone the same.
  void stop(Instant now, const std::string& reason, CoordinatorOutbox& out);

  [[nodiscard]] CoordinatorState state() const { return state_; }
  [[nodiscard]] bool ended() const { return state_ >= CoordinatorState::kDone; }
  [[nodiscard]] const JobAssignment& job_assignment() const { return job_assignment_; }
  [[nodiscard]] Instant origin() const { return origin_; }  // of round one; kNever before
  // Those whose joining, readiness, pongs, report or stopping is waited for.
  [[nodiscard]] std::vector<Who> awaited() const;
  [[nodiscard]] std::vector<MemberView> members() const;
  [[nodiscard]] RoundId rounds_reported() const;  // by everyone who is left
  [[nodiscard]] const std::vector<Account>& accounts() const { return accounts_; }
  [[nodiscard]] const std::vector<Loss>& losses() const { return losses_; }
  // Why it stops or stopped: the end of the last round, a wish, what failed.
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  struct Place {
    Who who;
    ConnectionId connection = kNoConnection;
    Hello hello;
    Instant joined, heard, ping_due = kNever;
    Ping ping;            // the last one
    int pongs = 0;        // to different pings
    bool pinged = false;  // and not answered yet
    ClockEstimate clock;
    Duration trip{0};  // there and back, at most so far
    bool ready = false, stopped = false, lost = false;
    RoundId reported = 0;

    [[nodiscard]] bool there() const { return connection != kNoConnection && !lost; }
  };

  Coordinator(Instant now, const PlanFile& plan, std::string text, JobAssignment job_assignment,
              const CoordinatorSettings& settings);

  void hear(Instant now, ConnectionId from, const Hello& hello, CoordinatorOutbox& out);
  void hear(Instant now, Place& place, const Pong& pong, CoordinatorOutbox& out);
  void hear(Instant now, Place& place, const RoundReport& report, CoordinatorOutbox& out);
  // Why this one has no place here; empty when it has.
  [[nodiscard]] std::string objection(const Hello& hello) const;
  [[nodiscard]] std::string objection(const Place& place, const RoundReport& report) const;
  // Whether two clocks may be further apart than edges wait; empty when not.
  [[nodiscard]] std::string clocks_apart() const;

  void ping(Instant now, Place& place, CoordinatorOutbox& out);
  // What becomes of a job that has lost a member. Failures, joins and new plans start here.
  void lose(Instant now, Place& place, const std::string& why, CoordinatorOutbox& out);
  void fail(Instant now, const std::string& why, CoordinatorOutbox& out);
  // Goes on to the next state if nobody is waited for in this one.
  void advance(Instant now, CoordinatorOutbox& out);
  void assign(Instant now, CoordinatorOutbox& out);
  void measure(Instant now, CoordinatorOutbox& out);
  void start(Instant now, CoordinatorOutbox& out);
  void tell_stop(Instant now, const Stop& stop, CoordinatorOutbox& out);
  void begin_round_one(Instant now, CoordinatorOutbox& out);
  void lose_the_late(Instant now, CoordinatorOutbox& out);

  [[nodiscard]] bool awaits(const Place& place) const;
  [[nodiscard]] bool awaits_anyone() const;
  [[nodiscard]] Instant state_deadline() const;
  [[nodiscard]] Instant report_due(RoundId round) const;
  [[nodiscard]] RoundId round_at(Instant now) const;
  [[nodiscard]] Duration longest_trip() const;
  [[nodiscard]] Place* place_of(ConnectionId connection);
  [[nodiscard]] std::string name(const Place& place) const { return to_text(map_, place.who); }
  [[nodiscard]] WallClock wall(Instant now) const { return wall_of(now, settings_.zero); }

  const Map& map_;
  std::string text_, fingerprint_;
  JobAssignment job_assignment_;
  CoordinatorSettings settings_;
  Duration slack_;  // of every round: the plan's and what the assignment added
  CoordinatorState state_ = CoordinatorState::kGathering;
  std::vector<Place> places_;
  Instant since_;  // the state has lasted
  Instant origin_ = kNever, stop_by_ = kNever;
  Stop stop_;
  std::string reason_;
  std::vector<Account> accounts_;
  std::vector<Loss> losses_;
};

[[nodiscard]] const char* name_of(CoordinatorState state);  // "gathering"

}  // namespace cotillion
