// What an edge's daemon and an island's have in common: a channel to the coordinator, a part in its
// job, rounds that are opened ahead of time and reported when they are over, and an end.
#pragma once

#include <functional>
#include <string>

#include "daemon/clock_trust.hpp"
#include "daemon/control_channel.hpp"
#include "daemon/daemon_log.hpp"
#include "daemon/notify.hpp"
#include "daemon/published_status.hpp"
#include "daemon/udp_socket.hpp"

namespace cotillion {

// What differs.
class MemberRole {
 public:
  // Sockets, memory and threads, or why not.
  [[nodiscard]] virtual Result<void> prepare(const Member& member) = 0;
  // Whether round one may come; asked again until it may.
  [[nodiscard]] virtual bool ready() = 0;
  // Rounds in order, each well before its start.
  virtual void open_round(const Member& member, RoundId round) = 0;
  // Its last packet has come, or never will.
  virtual void close_round(RoundId round) = 0;
  [[nodiscard]] virtual std::optional<RoundReport> next_report() = 0;
  // Many times a second, from preparing on. A reason to leave the job, or nothing.
  [[nodiscard]] virtual std::string look(const Member& member, Instant now) = 0;
  // Once, at the end, however it came.
  virtual void end(const Member& member) = 0;
  // What it has counted, from preparing on.
  [[nodiscard]] virtual Metrics metrics(const MetricLabels& labels) const = 0;

 protected:
  ~MemberRole() = default;
};

// Where it stands, and as who.
struct MemberPlace {
  Endpoint own;               // shard s: port + s
  Ipv4Address interface = 0;  // through which groups are heard and reached
  WallClock zero = 0;
  BootId boot = 0;
  std::vector<int> cores;  // one for each shard, or none
  Bytes receive_buffer{32 << 20};
  // Beyond the last hop's own round trip, before asking again: threads of real machines are late.
  Duration round_trip_margin{2'000'000'000};
};

struct MemberDaemonSettings {
  Hello hello;
  WallClock zero = 0;
  Duration silence_timeout{10'000'000'000'000};
  ClockTrust clock;          // who vouches for this host's
  DaemonLog* log = nullptr;  // none: nobody listens
  std::function<bool()> asked_to_stop = [] { return false; };
};

class MemberDaemon final : private MemberHost {
 public:
  MemberDaemon(ControlChannel& channel, MemberRole& member_role,
               const MemberDaemonSettings& settings);

  // Until the job has ended for this member; true when it ended as it should.
  [[nodiscard]] bool run();
  // Why it ended.
  [[nodiscard]] const std::string& reason() const { return member_.reason(); }
  [[nodiscard]] const Member& member() const { return member_; }
  // What others may see of it while it runs, from any thread.
  [[nodiscard]] const PublishedStatus& status() const { return status_; }

 private:
  void send(const Message& message) override { channel_.send(message); }
  void prepare() override { unprepared_ = true; }
  void play(Instant origin) override;
  void stop(RoundId after, const std::string& reason) override;

  void get_ready(Instant now);
  void keep_rounds(Instant now);
  void report(Instant now);
  [[nodiscard]] Duration until_next(Instant now) const;
  [[nodiscard]] Instant opens(RoundId round) const;
  [[nodiscard]] Instant closes(RoundId round) const;
  void publish(Instant now);
  void say(LogLevel level, std::string_view event, LogFields fields = {}) const;

  ControlChannel& channel_;
  MemberRole& member_role_;
  MemberDaemonSettings settings_;
  Member member_;
  bool unprepared_ = false, prepared_ = false, playing_ = false;
  std::optional<RoundId> last_;  // told to stop after it
  RoundId opened_ = 0, closed_ = 0, reported_ = 0;
  std::optional<RoundReport> due_;  // when its round closes
  std::uint64_t missing_ = 0;       // chunks, over all rounds
  std::string missing_text_;        // of the last round in which somebody was
  PublishedStatus status_;
  Instant published_at_ = kNever;
  Notifier notifier_ = Notifier::from_environment();
};

// "10.0.0.1:29900" or "10.0.0.1", which has the port that is usual.
[[nodiscard]] Result<Endpoint> read_endpoint(const std::string& text,
                                             std::uint16_t port = kUdpPort);

}  // namespace cotillion
