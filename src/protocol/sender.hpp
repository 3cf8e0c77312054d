// One island's streams: chunks in order, each at its planned instant, cut from fragments that are
// copied when their bytes are due to leave. It announces itself and says when a round is all out.
// Where rounds overlap it has two in hand: the next one is known and announced while the last of
// the one before leaves. Nothing is sent twice (docs/decisions/0045). Time is an argument, output
// an outbox.
#pragma once

#include <algorithm>
#include <vector>

#include "protocol/outbox.hpp"
#include "protocol/round_spec.hpp"
#include "protocol/seal.hpp"
#include "protocol/snapshots.hpp"

namespace cotillion {

enum class Exchange : std::uint8_t {
  kWhole,     // the paper: copied at the round's start, merged at its end
  kStreamed,  // each fragment is copied when it is due to leave, merged when it has come
};

struct SenderSettings {
  Exchange exchange = Exchange::kWhole;
  Bytes framing{0};                     // counted into the pace, as the plan does
  Duration heartbeat{100'000'000'000};  // between announcements
  Duration catch_up{1'000'000'000};     // of lateness that may be made up for in a burst
};

// The stream of one round, as planned.
struct StreamSpec {
  RoundId round = 0;
  int epoch = 0;
  int clique = 0;
  int bit = 0;                   // of this island among the clique's members
  std::uint32_t weight = 1;      // of this island
  std::uint32_t weight_sum = 1;  // of the clique, coefficients included: bounds the grid
  Instant start;                 // of the round
  Duration offset;               // from the start to the first departure
  BitsPerSecond rate;            // on the wire
  bool follows = false;          // rounds overlap: the stream before it may still be leaving
};

struct SenderCounters {
  // Of these, resent, forged and unexpected are 0: nobody asks a sender for anything. Outcome files
  // have them.
  std::uint64_t sent = 0, resent = 0, zero = 0, clamped = 0, withheld = 0, forged = 0,
                unexpected = 0;
  std::uint64_t slipped_ps = 0;  // departures that could not be made up for
  std::uint64_t late_ps = 0;     // the most that a departure was late, made up for or not

  void add(const SenderCounters& others) {
    sent += others.sent, resent += others.resent, zero += others.zero, clamped += others.clamped;
    withheld += others.withheld, forged += others.forged, unexpected += others.unexpected;
    slipped_ps += others.slipped_ps;
    late_ps = std::max(late_ps, others.late_ps);
  }
};

// When a chunk of it leaves if nothing is late: the planner's line from offset to offset + D/b.
[[nodiscard]] Instant planned_departure(const StreamSpec& stream, const SenderSettings& settings,
                                        const JobSpec& job, ChunkId chunk);

class Sender {
 public:
  Sender(const SenderSettings& settings, Snapshots& snapshots, FragmentSource& source, Seal own);

  // From `start` on. A round that is not all out yet ends there: its rest is never sent. One that
  // the new one follows goes on until it is all out, or until the new one would be later than may
  // be made up for.
  void open_round(const StreamSpec& stream);
  void on_time(Instant now, Outbox& out);
  [[nodiscard]] Instant next_deadline() const;

  // The chunk that the next copy begins with, and when it is due: a host whose source is not always
  // at hand looks first, and gives on_time no later an instant than it can serve.
  struct NextCopy {
    Instant when = kNever;
    ChunkId chunk = 0;
    RoundId round = 0;
  };
  [[nodiscard]] NextCopy next_copy() const;

  // When a chunk of the stream that is leaving leaves, if nothing more is late; the planner's line
  // from offset to offset + D/b.
  [[nodiscard]] Instant departure(ChunkId chunk) const { return leaving_.departure(chunk); }
  // The same of either stream in hand; of others never.
  [[nodiscard]] Instant departure(RoundId round, ChunkId chunk) const;
  [[nodiscard]] bool all_sent() const { return leaving_.next == chunks_ && !waits_; }
  // Whether this chunk will not leave again in that round: it has, or the round is over.
  [[nodiscard]] bool is_past(RoundId round, ChunkId chunk) const {
    if (waits_ && following_.spec.round == round) return false;
    return leaving_.spec.round != round || leaving_.next > chunk;
  }
  // Whose packet is being put out: to be asked by an outbox, which knows where its group is.
  [[nodiscard]] RoundId speaks_for() const { return speaks_for_; }
  [[nodiscard]] const SenderCounters& counters() const { return counters_; }

 private:
  struct Passage {
    StreamSpec spec;
    double chunk_ps = 0;  // between departures
    Duration slip{0};
    Instant due;             // the departure of `next`
    ChunkId next = 0;        // to leave
    ChunkId copied = 0;      // chunks below are in the snapshots
    std::uint32_t base = 0;  // sequence of chunk 0
    bool started = false;
    Instant heartbeat_at = kNever;

    [[nodiscard]] Instant departure(ChunkId chunk) const;
  };
  [[nodiscard]] Instant deadline_of(const Passage& passage) const;
  void greet(Passage& passage, Instant now, Outbox& out);
  void pass(Passage& passage, Instant now, Outbox& out);
  void copy(Passage& passage, ChunkId from, ChunkId to);
  void count(std::uint8_t flags);
  void send_chunk(const Passage& passage, ChunkId chunk, Outbox& out);
  void announce(PacketType type, const Passage& passage, Outbox& out);
  [[nodiscard]] Header header_of(PacketType type, const Passage& passage);

  SenderSettings settings_;
  Snapshots& snapshots_;
  FragmentSource& source_;
  Seal own_;
  ChunkId chunks_;
  Passage leaving_, following_;
  bool open_ = false;   // there was one to leave
  bool waits_ = false;  // there is one that follows
  RoundId speaks_for_ = 0;
  std::array<std::uint32_t, 16> control_sequence_{};
  std::vector<float> values_;      // one chunk
  std::vector<std::byte> packet_;  // one packet
  SenderCounters counters_;
};

}  // namespace cotillion
