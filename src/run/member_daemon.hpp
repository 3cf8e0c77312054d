// What an edge's daemon and an island's have in common: a line to the coordinator, a part in its
// job, rounds that are opened ahead of time and reported when they are over, and an end.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "run/clock.hpp"
#include "run/line.hpp"
#include "run/udp_socket.hpp"

namespace cotillion {

// An event and what belongs to it, for whoever writes the log.
struct LogLine {
  enum class Level : std::uint8_t { kInfo, kWarning, kError };
  Level level = Level::kInfo;
  std::string event;
  std::vector<std::pair<std::string, std::string>> fields;
};
using Note = std::function<void(const LogLine&)>;

// What differs.
class Performer {
 public:
  // Sockets, memory and threads, or why not.
  [[nodiscard]] virtual Result<bool> prepare(const Member& member) = 0;
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

 protected:
  ~Performer() = default;
};

struct MemberDaemonSettings {
  Hello hello;
  WallClock zero = 0;
  Duration silence_patience{10'000'000'000'000};
  Note note = [](const LogLine&) {};
  std::function<bool()> asked_to_stop = [] { return false; };
};

class MemberDaemon final : private MemberHost {
 public:
  MemberDaemon(Line& line, Performer& performer, const MemberDaemonSettings& settings);

  // Until the job has ended for this member; true when it ended as it should.
  [[nodiscard]] bool run();
  // Why it ended.
  [[nodiscard]] const std::string& reason() const { return member_.reason(); }
  [[nodiscard]] const Member& member() const { return member_; }

 private:
  void send(const Message& message) override { line_.send(message); }
  void prepare() override { unprepared_ = true; }
  void play(Instant origin) override;
  void stop(RoundId after, const std::string& reason) override;

  void get_ready(Instant now);
  void keep_rounds(Instant now);
  void report(Instant now);
  [[nodiscard]] Duration until_next(Instant now) const;
  [[nodiscard]] Instant opens(RoundId round) const;
  [[nodiscard]] Instant closes(RoundId round) const;
  void say(LogLine::Level level, const std::string& event,
           std::vector<std::pair<std::string, std::string>> fields = {}) const;

  Line& line_;
  Performer& performer_;
  MemberDaemonSettings settings_;
  Member member_;
  bool unprepared_ = false, prepared_ = false, playing_ = false;
  std::optional<RoundId> last_;  // told to stop after it
  RoundId opened_ = 0, closed_ = 0, reported_ = 0;
};

// "10.0.0.1:29900" or "10.0.0.1", which has the port that is usual.
[[nodiscard]] Result<Endpoint> read_endpoint(const std::string& text,
                                             std::uint16_t port = kUdpPort);

}  // namespace cotillion
