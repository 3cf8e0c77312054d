// What the coordinator, the islands and the edges say to one another, as plain data. Whoever
// carries it (gRPC in real time, a queue in virtual time) changes nothing of it.
//
// Wall-clock times are nanoseconds since 1970 on the clock of the one who speaks; only the instant
// of round one is on the coordinator's, which is the job's.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/absence.hpp"
#include "job/job_assignment.hpp"
#include "protocol/counters.hpp"
#include "protocol/merge_rule.hpp"
#include "protocol/seal.hpp"

namespace cotillion {

inline constexpr int kShardsMax = 256;

using WallClock = std::int64_t;  // nanoseconds since 1970

enum class Role : std::uint8_t { kIsland, kEdge };

// A member: an island, or the edge in front of it.
struct Who {
  IslandId island = 0;
  Role role = Role::kIsland;

  friend auto operator<=>(const Who&, const Who&) = default;
};

// How a clock stands to another one, or to the true time.
struct ClockEstimate {
  std::int64_t ahead_ns = 0;
  std::int64_t error_ns = INT64_MAX;  // at most so far off; INT64_MAX: nothing is known

  [[nodiscard]] bool known() const { return error_ns != INT64_MAX; }
  friend bool operator==(const ClockEstimate&, const ClockEstimate&) = default;
};

struct Hello {
  std::string island;  // its name in the map
  Role role = Role::kIsland;
  BootId boot = 0;      // of the process: larger after every start, never 0
  std::string address;  // where its packets are to be sent
  ClockEstimate clock;  // against the true time, where the host knows it (PTP, NTP)
  std::string version;
  std::string plan;  // the fingerprint of the plan it was started with; empty: any

  friend bool operator==(const Hello&, const Hello&) = default;
};

// "No", and why in words. Whoever hears it has no part in the job.
struct Refusal {
  std::string reason;

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// The four timestamps of NTP. A ping also says that the coordinator is still there, a pong that
// the member is.
struct Ping {
  std::uint32_t number = 0;
  WallClock sent = 0;

  friend bool operator==(const Ping&, const Ping&) = default;
};
struct Pong {
  std::uint32_t number = 0;
  WallClock ping_sent = 0, ping_came = 0, sent = 0;

  friend bool operator==(const Pong&, const Pong&) = default;
};

// What everyone needs to know of everyone: seals want boots, sockets want addresses.
struct MemberEntry {
  Who who;
  BootId boot = 0;
  std::string address;

  friend bool operator==(const MemberEntry&, const MemberEntry&) = default;
};

struct Assignment {
  JobId job = 1;
  int epoch = 0;
  int rounds = 1;
  Who you;
  std::string plan;  // its fingerprint
  std::string plan_text;
  JobSettings job_settings;
  int exponent = 0;     // of i32 jobs
  double progress = 1;  // that merges keep (protocol/merge)
  Missing missing = Missing::kMeanOfPresent;
  std::vector<MemberEntry> members;
  std::uint16_t port = kUdpPort;  // of the groups; shard s uses port + s
  int shards = 1;  // threads that share the work at every member; each is a job of its own

  friend bool operator==(const Assignment& a, const Assignment& b);
};

struct Ready {
  friend bool operator==(const Ready&, const Ready&) = default;
};

struct Start {
  WallClock origin = 0;  // of round one, on the coordinator's clock
  ClockEstimate clock;   // how the hearer's stands to it

  friend bool operator==(const Start&, const Start&) = default;
};

// When the last chunk of a stream reached the edge, from the round's start.
struct ReportedArrival {
  IslandId sender = 0;
  Duration measured;

  friend bool operator==(const ReportedArrival&, const ReportedArrival&) = default;
};

// A fragment of an island's model was copied, or its correction was ready to be merged.
struct ReportedMove {
  RoundId round = 0;
  int fragment = 0;  // of all shards, one shard after the other
  bool merged = false;
  Duration at;  // from the round's start

  friend bool operator==(const ReportedMove&, const ReportedMove&) = default;
};

// One member's account of one round. Counters are of all rounds until then. An island fills in what
// its sender and receiver know, an edge what it knows; the rest stays as it is here.
struct RoundReport {
  RoundId round = 0;
  Duration measured;  // from the round's start to the last chunk placed
  std::vector<Absence> absences;
  std::vector<double> mixing;       // this island's row of Ŵ
  std::vector<ReportedMove> moves;  // since the report before; merges of this round may follow
  std::uint64_t steps = 0;
  SenderCounters sender;
  ReceiverCounters receiver;
  std::vector<ReportedArrival> arrivals;
  Bytes memory_peak;
  EdgeCounters edge;

  friend bool operator==(const RoundReport& a, const RoundReport& b);
};

struct Stop {
  RoundId after = 0;    // the last round to be played; 0: at once
  bool failed = false;  // the job has not come to its end
  std::string reason;

  friend bool operator==(const Stop&, const Stop&) = default;
};

struct Stopped {
  RoundId after = 0;  // the last round that was played
  std::string reason;

  friend bool operator==(const Stopped&, const Stopped&) = default;
};

using Message =
    std::variant<Hello, Refusal, Ping, Pong, Assignment, Ready, Start, RoundReport, Stop, Stopped>;

[[nodiscard]] const char* name_of(const Message& message);  // "Hello"
[[nodiscard]] const char* name_of(Role role);               // "island"
// "island TYO", "edge of TYO".
[[nodiscard]] std::string to_text(const Map& map, Who who);

// A clock that is further off than a day is not worth a guess.
inline constexpr std::int64_t kClockOffMost = 86'400'000'000'000;
[[nodiscard]] bool is_sane(const ClockEstimate& clock);

// What a pong says of the clock it comes from, against the clock of the one who sent the ping: half
// of the way there and back is how far off it may be. Nothing for impossible timestamps.
[[nodiscard]] std::optional<ClockEstimate> clock_of(const Pong& pong, WallClock came);
// A clock against another, where both know how they stand to the true time.
[[nodiscard]] ClockEstimate between(const ClockEstimate& clock, const ClockEstimate& other);

// Instants count picoseconds from a moment of the host's choice, `zero` on its wall clock.
[[nodiscard]] constexpr WallClock wall_of(Instant instant, WallClock zero) {
  return zero + instant.ps / 1000;
}
[[nodiscard]] constexpr Instant instant_of(WallClock wall, WallClock zero) {
  return {(wall - zero) * 1000};
}

}  // namespace cotillion
