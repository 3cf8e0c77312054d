// The other side of the coordinator's conversation: an island, or the edge in front of one. Says
// Hello, answers pings, takes its part in the plan, waits for round one, reports rounds, stops when
// it is told to, or when the coordinator has been silent for too long. Pure; the host does the
// rest.
//
//   greeting → preparing → waiting → playing → stopping → done or failed
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "job/messages.hpp"

namespace cotillion {

// What the host does for a member. It may not call the member back before returning.
class MemberHost {
 public:
  virtual void send(const Message& message) = 0;
  // It has its part: sockets, memory and threads are made now, then the host calls ready().
  virtual void prepare() = 0;
  // Round one begins at this instant of the host's own clock.
  virtual void play(Instant origin) = 0;
  // Ends with this round, or at once (0), then calls stopped().
  virtual void stop(RoundId after, const std::string& reason) = 0;

 protected:
  ~MemberHost() = default;
};

struct MemberSettings {
  Hello hello;
  WallClock zero = 0;  // what the host's wall clock shows at Instant{0}
  Duration silence_timeout{10'000'000'000'000};
};

enum class MemberState : std::uint8_t {
  kGreeting,
  kPreparing,
  kWaiting,
  kPlaying,
  kStopping,
  kDone,
  kFailed,
};

class Member {
 public:
  Member(Instant now, MemberSettings settings);

  void begin(Instant now, MemberHost& host);
  void on_message(Instant now, const Message& message, MemberHost& host);
  void on_lost(Instant now, const std::string& why, MemberHost& host);
  void on_time(Instant now, MemberHost& host);
  [[nodiscard]] Instant next_deadline() const;

  // What the host tells it. A host that cannot go on says why in refuse().
  void ready(Instant now, MemberHost& host);
  void report(Instant now, const RoundReport& report, MemberHost& host);
  void stopped(Instant now, MemberHost& host);
  void refuse(Instant now, const std::string& why, MemberHost& host);

  [[nodiscard]] MemberState state() const { return state_; }
  [[nodiscard]] bool ended() const { return state_ >= MemberState::kDone; }
  // Of what failed, or why it was told to stop.
  [[nodiscard]] const std::string& reason() const { return reason_; }

  // From preparing on.
  [[nodiscard]] const Assignment& assignment() const { return assignment_; }
  [[nodiscard]] const PlanFile& plan() const { return *plan_; }
  [[nodiscard]] const JobAssignment& job_assignment() const { return *job_assignment_; }
  [[nodiscard]] const MemberEntry& entry(Who who) const;
  // From playing on: when rounds begin on the host's own clock, and its part in them.
  [[nodiscard]] Instant origin() const { return origin_; }
  [[nodiscard]] RoundAssignment part(RoundId round) const;
  // The last round to be played, as far as it is known.
  [[nodiscard]] RoundId last_round() const;

 private:
  void hear(Instant now, const Assignment& assignment, MemberHost& host);
  void hear(Instant now, const Start& start, MemberHost& host);
  void hear(const Stop& stop, MemberHost& host);
  void fail(const std::string& why, MemberHost& host);

  MemberSettings settings_;
  MemberState state_ = MemberState::kGreeting;
  Instant heard_;  // from the coordinator, the last time
  Assignment assignment_;
  std::unique_ptr<PlanFile> plan_;  // where it is, the assignment refers to it
  std::optional<JobAssignment> job_assignment_;
  Instant origin_ = kNever;
  RoundId reported_ = 0;
  Stop stop_;
  std::string reason_;
};

[[nodiscard]] const char* name_of(MemberState state);  // "greeting"

}  // namespace cotillion
