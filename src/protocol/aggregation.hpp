// One job at one edge: what comes in is checked (`protocol/admission`), decided on by the merge
// rule
// (`protocol/merge_decision`), summed in a slot (`protocol/slot_table`) and sent on in sequence
// (`protocol/hop_sender`); the ledger of its round (`protocol/edge_rounds`) remembers what has gone
// out. Each of these decisions is cheap enough for one clock in hardware. Time is an argument,
// output an outbox, memory is allocated once.
#pragma once

#include "protocol/admission.hpp"
#include "protocol/aggregation_spec.hpp"
#include "protocol/counters.hpp"
#include "protocol/edge_rounds.hpp"
#include "protocol/hop_sender.hpp"
#include "protocol/slot_table.hpp"

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
    const EdgeTurn turn{now, out, counters_};
    if (source != kOwnIsland && header.type() != PacketType::kHeartbeat)
      on_sum(turn, {source, header, packet});
    else
      on_word(turn, {source, header, packet});
  }
  void on_time(Instant now, Outbox& out) {
    if (due_ <= now) on_deadline({now, out, counters_});
  }
  [[nodiscard]] Instant next_deadline() const { return due_; }
  // A contribution that will come soon: what is known of its chunk is fetched into the cache.
  void expect(RoundId round, ChunkId chunk) const {
    const EdgeRound& entry = rounds_.at_place_of(round);
    if (chunk >= rounds_.chunks() || !entry.open) return;
    __builtin_prefetch(&entry.ledger[chunk], 1);
    slots_.prefetch(entry.slot_of(chunk));
  }

  // Puts everything out, for a clean stop.
  void flush(Instant now, Outbox& out);

  [[nodiscard]] const AggregationSpec& spec() const { return spec_; }
  [[nodiscard]] const EdgeCounters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t resend_overruns() const { return hop_.overruns(); }
  [[nodiscard]] std::size_t open_slots() const { return slots_.open(); }
  [[nodiscard]] std::size_t open_slots_peak() const { return slots_.open_peak(); }

  // The large ones, for hosts that place them with care.
  [[nodiscard]] std::array<ByteSpan, 2> tables() { return {slots_.sums(), hop_.memory()}; }

 private:
  void on_sum(const EdgeTurn& turn, const HeardPacket& heard);
  void on_word(const EdgeTurn& turn, const HeardPacket& heard);
  void on_request(const EdgeTurn& turn, const HeardPacket& heard);
  void on_deadline(const EdgeTurn& turn);
  void note_due() { due_ = std::min(hop_.next_deadline(), rounds_.next_deadline()); }

  void note_not_finite(EdgeRound& round, ChunkId chunk);
  void merge(const EdgeTurn& turn, EdgeRound& round, const Contribution& contribution);
  void pass_through(const EdgeTurn& turn, EdgeRound& round, const Contribution& contribution,
                    std::uint8_t flags);
  [[nodiscard]] bool is_whole(const EdgeRound& round, ChunkId chunk, std::size_t index) const;
  void count_leaving(const EdgeRound& round, ChunkId chunk, std::size_t index, EdgeCount otherwise);
  void put_aside(const EdgeTurn& turn, std::size_t index);
  void evict(const EdgeTurn& turn, EdgeRound& round, ChunkId chunk, std::size_t index);
  void release(const EdgeTurn& turn, EdgeRound& round);
  void expire(const EdgeTurn& turn, EdgeRound& round);
  void put_out(const EdgeTurn& turn, EdgeRound& round, LeavingSum leaving);
  void end(const EdgeTurn& turn, EdgeRound& round);

  AggregationSpec spec_;
  Admission admission_;
  EdgeRounds rounds_;
  SlotTable slots_;
  HopSender hop_;
  EdgeCounters counters_;
  Instant due_ = kNever;  // the soonest of all deadlines: every packet asks
};

}  // namespace cotillion
