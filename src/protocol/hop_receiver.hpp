// An island's end of the hop from its edge: whom it believes, which sequences are missing and when
// to ask for them, and what the edge hears of it in return.
#pragma once

#include <array>

#include "protocol/counters.hpp"
#include "protocol/gap_tracker.hpp"
#include "protocol/received_rounds.hpp"
#include "protocol/request.hpp"
#include "protocol/seal.hpp"

namespace cotillion {

// What one call of a receiver has at hand for its hop.
struct HopTurn {
  Instant now;
  Outbox& out;
  ReceiverCounters& counters;
};

class HopReceiver {
 public:
  HopReceiver(const JobSpec& job, const GapSettings& gaps, Duration heartbeat, Seal own, Seal edge);

  // A round was opened.
  void begin(const HopTurn& turn, const ReceivedRounds& rounds);
  // Believes what the edge says of itself and of a round; false: it is forged. After a restart all
  // that was known of sequences is forgotten.
  [[nodiscard]] bool hear_heartbeat(const HopTurn& turn, ReceivedRounds& rounds,
                                    ReceivedRound& round, const Header& header, ByteView packet);
  // Whether the edge sealed it since the boot that is known; counted if not. Notes that it came.
  [[nodiscard]] bool holds(const HopTurn& turn, const Header& header, ByteView packet);
  void on_end(Instant now, ReceivedRound& round, const Header& header);
  void on_gone(const HopTurn& turn, const Header& header, ByteView bitmap);
  void on_sum(ReceivedRound& round, const Header& header);

  void ask(const HopTurn& turn, const ReceivedRounds& rounds);
  void on_time(const HopTurn& turn, const ReceivedRounds& rounds);
  // Gives up what only that round could need, and says so.
  void close(const ReceivedRounds& rounds, const ReceivedRound& round, Outbox& out);

  [[nodiscard]] Instant next_deadline() const {
    return std::min(heartbeat_at_, gaps_.next_deadline());
  }
  [[nodiscard]] std::uint32_t missing() const { return gaps_.missing(); }
  // When something that its edge has sealed came last.
  [[nodiscard]] Instant heard() const { return heard_; }

 private:
  void announce(const ReceivedRounds& rounds, Outbox& out);
  void begin_at(std::uint32_t sequence);
  [[nodiscard]] std::uint32_t needless_below(const ReceivedRounds& rounds,
                                             const ReceivedRound& round) const;
  [[nodiscard]] Header header_of(PacketType type, const RoundSpec& round);

  JobId job_;
  Duration heartbeat_;
  Seal own_;
  Seal edge_;
  GapTracker gaps_;
  RequestWriter request_;
  bool begun_ = false;     // where the edge's sequences begin for us is known
  bool answered_ = false;  // by this boot of the edge
  Instant heard_{INT64_MIN};
  Instant heartbeat_at_ = kNever;
  std::array<std::uint32_t, 16> control_sequence_{};  // by type
};

}  // namespace cotillion
