// An edge's end of the hop to its island: sums leave in sequence and are kept for resending, END
// and heartbeats say how far they have come, and what the island asks for again goes out when the
// last hop has room for it. Which sums there are is for others to decide.
#pragma once

#include <algorithm>
#include <array>

#include "protocol/accumulator.hpp"
#include "protocol/aggregation_spec.hpp"
#include "protocol/counters.hpp"
#include "protocol/edge_rounds.hpp"
#include "protocol/last_hop.hpp"
#include "protocol/request.hpp"
#include "protocol/resend_store.hpp"

namespace cotillion {

// What one call of an edge has at hand.
struct EdgeTurn {
  Instant now;
  Outbox& out;
  EdgeCounters& counters;
};

// A sum that leaves, from a slot or from a payload as it came; neither is read with ZERO.
struct LeavingSum {
  PacketType type = PacketType::kPartial;
  int exponent = 0;  // of the grid
  ChunkId chunk = 0;
  ContributorMask mask = 0;
  std::uint32_t weight = 0;
  std::uint8_t flags = 0;
  const std::byte* sum = nullptr;
  ByteView payload;
};

// When the island hears again how far its edge has come: once in a while, and after a round's END
// soon, then at waits that double, until it says that it needs nothing more.
class HeartbeatClock {
 public:
  HeartbeatClock(Duration every, Duration insist) : every_(every), insist_(insist) {}

  [[nodiscard]] Instant at() const { return at_; }
  void begin(Instant now) { wait(now, every_); }
  void insist(Instant now) { wait(now, std::min(insist_, every_)); }
  void go_on(Instant now) { wait(now, std::min(wait_ + wait_, every_)); }
  void rest() { at_ = kNever; }

 private:
  void wait(Instant now, Duration wait) {
    wait_ = wait;
    at_ = now + wait;
  }
  Duration every_, insist_;
  Duration wait_ = every_;
  Instant at_ = kNever;
};

class HopSender {
 public:
  HopSender(const AggregationSpec& spec, Seal own);

  void begin(const EdgeTurn& turn, const EdgeRound& round);
  void send(const EdgeTurn& turn, const EdgeRounds& rounds, const EdgeRound& round,
            const LeavingSum& leaving);
  void end(const EdgeTurn& turn, const EdgeRound& round);

  void answer(const EdgeTurn& turn, const Header& request, ByteView bitmap);
  void acknowledge_below(std::uint32_t sequence) { store_.acknowledge_below(sequence); }

  // What is due: repeats for which there is room now, and a heartbeat.
  void on_time(const EdgeTurn& turn, const EdgeRounds& rounds);
  [[nodiscard]] Instant next_deadline() const {
    return store_.anyone_in_line() ? std::min(heartbeat_.at(), hop_.room_at()) : heartbeat_.at();
  }
  // Before a clean stop: nobody will come back for what waits.
  void flush(const EdgeTurn& turn, const EdgeRounds& rounds);

  [[nodiscard]] std::uint32_t next_sequence() const { return store_.next(); }
  [[nodiscard]] std::uint64_t overruns() const { return store_.overruns(); }
  [[nodiscard]] ByteSpan memory() { return store_.memory(); }

 private:
  void announce(PacketType type, const EdgeRound& round, Outbox& out);
  void send_gone(const Header& request, Outbox& out);
  void repeat(const EdgeTurn& turn, ByteSpan kept);
  void repeat_those_in_line(const EdgeTurn& turn, const EdgeRounds& rounds);

  JobSpec job_;
  Duration linger_;
  const Accumulator& accumulator_;
  Seal own_;
  ResendStore store_;
  LastHop hop_;
  HeartbeatClock heartbeat_;
  RequestWriter request_;
  std::array<std::uint32_t, 16> control_sequence_{};  // by type
};

}  // namespace cotillion
