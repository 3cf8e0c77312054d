// One job at one edge: the slots in which contributions are summed, the ledger that remembers
// which of them have gone out, the deadline pointer, and the store of what was sent. Decisions are
// those of the merge rule in docs/understand/protocol.md, each of them cheap enough for one clock
// in hardware. Time is an argument, output an outbox, memory is allocated once.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "protocol/accumulator.hpp"
#include "protocol/aggregation_spec.hpp"
#include "protocol/aligned_bytes.hpp"
#include "protocol/counters.hpp"
#include "protocol/last_hop.hpp"
#include "protocol/request.hpp"
#include "protocol/resend_store.hpp"
#include "protocol/round_spec.hpp"
#include "protocol/seal.hpp"

namespace cotillion {

class Aggregation {
 public:
  Aggregation(const AggregationSpec& spec, AggregationSeals seals);

  // The plan's word on a round. Rounds come in order; one that no longer fits into live_rounds is
  // put out first, as if all its deadlines had passed.
  [[nodiscard]] Result<RoundSpec> open_round(Instant now, const RoundSpec& round, Outbox& out);

  // `source` is the stream that the host heard it on, or kOwnIsland.
  void on_packet(Instant now, SourceId source, const Header& header, ByteView packet, Outbox& out) {
    on_time(now, out);
    if (source != kOwnIsland && header.type() != PacketType::kHeartbeat)
      on_sum(now, source, header, packet, out);
    else
      on_word(now, source, header, packet, out);
  }
  void on_time(Instant now, Outbox& out) {
    if (due_ <= now) on_deadline(now, out);
  }
  [[nodiscard]] Instant next_deadline() const { return due_; }
  // A contribution that will come soon: what is known of its chunk is fetched into the cache.
  void expect(RoundId round, ChunkId chunk) const {
    const LiveRound& entry = rounds_[place_of(round)];
    if (chunk >= chunks_ || !entry.open) return;
    __builtin_prefetch(&entry.ledger[chunk], 1);
    __builtin_prefetch(&slots_[entry.slot_of(chunk)], 1);
  }

  // Puts everything out, for a clean stop.
  void flush(Instant now, Outbox& out);

  [[nodiscard]] const AggregationSpec& spec() const { return spec_; }
  [[nodiscard]] const EdgeCounters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t resend_overruns() const { return store_.overruns(); }
  [[nodiscard]] std::size_t open_slots() const { return open_slots_; }
  [[nodiscard]] std::size_t open_slots_peak() const { return open_slots_peak_; }

  // The large ones, for hosts that place them with care.
  [[nodiscard]] std::array<ByteSpan, 2> tables() {
    return {ByteSpan{sums_.at(0), sums_.size()}, store_.memory()};
  }

  static const std::size_t kRoundRecordBytes;

 private:
  struct Slot {
    ChunkKey key = 0;
    ContributorMask mask = 0;  // 0: free
    std::uint32_t weight = 0;
    std::uint8_t flags = 0;  // inherited ones, and ZERO while nothing but zeros came
    bool parted = false;     // the ledger has parts of it, too
  };
  static_assert(sizeof(Slot) == kSlotRecordBytes);

  struct LiveRound {
    bool open = false;
    RoundSpec spec;
    // By bit: all bits that come on the same stream.
    std::array<ContributorMask, kCliqueMembersMax> together{};
    ContributorMask* ledger = nullptr;
    SlotFinder slot_of;
    ChunkId complete = 0;  // chunks
    // The deadline pointer: chunks below `due` are past theirs. Steps are span / (chunks − 1),
    // with the remainder carried along, so that no step divides.
    ChunkId due = 0;
    Instant due_at;
    std::int64_t step = 0, step_rest = 0, rest = 0;
    bool ended = false;
    bool acknowledged = false;
    std::uint8_t flags = 0;            // NAN_DROPPED, for END
    std::uint32_t first_sequence = 0;  // of its outputs
  };

  struct Contribution {
    const Header& header;
    ByteView payload;  // empty for ZERO
    ContributorMask mask;
    ChunkId chunk;
    std::uint32_t weight;       // after the coefficient
    std::uint32_t coefficient;  // 1 for sums
  };

  [[nodiscard]] LiveRound* live(RoundId round);
  // Two rounds are alive, nearly always, and every packet asks: no division then.
  [[nodiscard]] std::size_t place_of(RoundId round) const {
    return rounds_.size() == 2 ? round & 1 : round % rounds_.size();
  }
  [[nodiscard]] std::byte* sum_of(std::size_t slot) { return sums_.at(slot * slot_stride_); }

  // aggregation.cpp: what a packet is
  void on_word(Instant now, SourceId source, const Header& header, ByteView packet, Outbox& out);
  void on_deadline(Instant now, Outbox& out);
  void note_due();
  void on_sum(Instant now, SourceId source, const Header& header, ByteView packet, Outbox& out);
  [[nodiscard]] bool expected(const LiveRound& round, SourceId source, const Header& header,
                              std::size_t payload) const;
  [[nodiscard]] bool within_rate(Instant now, std::size_t bytes);
  [[nodiscard]] bool epoch_is_live(int epoch) const;
  [[nodiscard]] Seal* seal_of(SourceId source);
  void on_heartbeat(SourceId source, const Header& header, ByteView packet);
  void send_again(Instant now, ByteSpan kept, Outbox& out);
  void send_those_in_line(Instant now, Outbox& out);
  void on_nak(Instant now, const Header& header, ByteView packet, Outbox& out);

  // aggregation_merge.cpp: what becomes of a contribution
  void merge(Instant now, LiveRound& round, const Contribution& contribution, Outbox& out);
  void accumulate(std::size_t index, const Contribution& contribution, bool first);
  void put_aside(Instant now, std::size_t index, Outbox& out);
  void evict(Instant now, LiveRound& round, ChunkId chunk, std::size_t index, Outbox& out);
  void step(LiveRound& round) const;
  void expire(Instant now, LiveRound& round, Outbox& out);
  void pass_through(Instant now, LiveRound& round, const Contribution& contribution,
                    std::uint8_t flags, Outbox& out);
  void put_out(Instant now, LiveRound& round, ChunkId chunk, ContributorMask mask,
               std::uint32_t weight, std::uint8_t flags, const std::byte* sum, ByteView payload,
               Outbox& out);
  void end(Instant now, LiveRound& round, Outbox& out);
  void announce(PacketType type, const LiveRound& round, Outbox& out);

  AggregationSpec spec_;
  ChunkId chunks_;
  std::size_t slot_stride_;
  const Accumulator& accumulator_;
  AggregationSeals seals_;
  std::vector<LiveRound> rounds_;
  std::unique_ptr<ContributorMask[]> ledger_;  // cleared when a round opens
  std::vector<Slot> slots_;
  AlignedBytes sums_;
  AlignedBytes scratch_;  // one sum
  ResendStore store_;
  LastHop hop_;
  RequestWriter request_;
  EdgeCounters counters_;
  std::size_t open_slots_ = 0;
  std::size_t open_slots_peak_ = 0;
  RoundId newest_ = 0;
  bool any_round_ = false;
  Instant due_ = kNever;  // the soonest of all deadlines: every packet asks
  Instant heartbeat_at_ = kNever;
  Duration heartbeat_wait_;
  std::array<std::uint32_t, 16> control_sequence_{};  // by type
  // Token bucket of the job's rate.
  double tokens_;
  Instant tokens_at_{0};
};

}  // namespace cotillion
