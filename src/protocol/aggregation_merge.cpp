// The merge rule: what becomes of a contribution, and what leaves the edge.
#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "protocol/aggregation.hpp"
#include "protocol/announcement.hpp"

namespace cotillion {

void Aggregation::merge(Instant now, LiveRound& round, const Contribution& contribution,
                        Outbox& out) {
  const ChunkId chunk = contribution.chunk;
  const ChunkKey key = key_of(chunks_, round.spec.round, chunk);
  const std::size_t index = round.slot_of(chunk);
  Slot& slot = slots_[index];
  const bool resident = slot.mask != 0 && slot.key == key;
  // A slot knows whether to look into the ledger, which is elsewhere in memory.
  const ContributorMask gone_out = resident && !slot.parted ? 0 : round.ledger[chunk];
  const ContributorMask seen = gone_out | (resident ? slot.mask : 0);

  if ((contribution.mask & ~seen) == 0) return counters_.add(EdgeCount::kDuplicates);
  if ((contribution.mask & seen) != 0) return counters_.add(EdgeCount::kOverlaps);
  counters_.add(EdgeCount::kAccepted);
  if (contribution.header.has(flag::kResent)) counters_.add(EdgeCount::kRepaired);

  const bool completes = (seen | contribution.mask) == round.spec.expected;
  if (chunk < round.due || (slot.mask != 0 && !resident && slot.key > key)) {
    counters_.add(EdgeCount::kLate);
    return pass_through(now, round, contribution, flag::kLate, out);
  }
  if (completes && !resident) {  // needs no slot, so it puts nobody out of one
    counters_.add(gone_out == 0 ? EdgeCount::kResults : EdgeCount::kCompletedPartials);
    return pass_through(now, round, contribution, 0, out);
  }
  if (slot.mask != 0 && !resident) {
    counters_.add(EdgeCount::kConflicts);
    put_aside(now, index, out);
  }
  if (!resident) {
    slot = {key, 0, 0, flag::kZero, gone_out != 0};
    open_slots_peak_ = std::max(open_slots_peak_, ++open_slots_);
  }
  accumulate(index, contribution, (slot.flags & flag::kZero) != 0);
  if (!completes) return;
  counters_.add(gone_out == 0 ? EdgeCount::kResults : EdgeCount::kCompletedPartials);
  evict(now, round, chunk, index, out);
}

void Aggregation::accumulate(std::size_t index, const Contribution& contribution, bool first) {
  Slot& slot = slots_[index];
  slot.mask |= contribution.mask;
  slot.weight += contribution.weight;
  slot.flags |= contribution.header.flags & flag::kInherited;
  if (contribution.payload.empty()) return;
  slot.flags &= std::uint8_t(~flag::kZero);
  const std::size_t elements = contribution.payload.size() / bytes_of(spec_.job.element);
  (first ? accumulator_.write : accumulator_.add)(sum_of(index), contribution.payload.data(),
                                                  elements, contribution.coefficient);
}

// Whoever is in the slot.
void Aggregation::put_aside(Instant now, std::size_t index, Outbox& out) {
  const ChunkKey key = slots_[index].key;
  LiveRound* round = live(RoundId(key / chunks_));
  COTILLION_CHECK(round != nullptr);  // no slot outlives its deadline
  evict(now, *round, ChunkId(key % chunks_), index, out);
}

void Aggregation::evict(Instant now, LiveRound& round, ChunkId chunk, std::size_t index,
                        Outbox& out) {
  Slot& slot = slots_[index];
  const Slot leaving = slot;
  slot.mask = 0;
  --open_slots_;
  put_out(now, round, chunk, leaving.mask, leaving.weight, leaving.flags, sum_of(index), {}, out);
}

void Aggregation::step(LiveRound& round) const {
  ++round.due;
  round.due_at.ps += round.step;
  round.rest += round.step_rest;
  if (round.rest >= std::int64_t(chunks_) - 1) {
    round.rest -= std::int64_t(chunks_) - 1;
    ++round.due_at.ps;
  }
}

// One pointer walks the chunks in the order in which they are due, those that nobody opened
// included: no timer is set for a packet.
void Aggregation::expire(Instant now, LiveRound& round, Outbox& out) {
  for (; round.due < chunks_ && round.due_at <= now; step(round)) {
    const ChunkKey key = key_of(chunks_, round.spec.round, round.due);
    const std::size_t index = round.slot_of(round.due);
    if (slots_[index].mask != 0 && slots_[index].key == key) {
      counters_.add(EdgeCount::kTimeouts);
      evict(now, round, round.due, index, out);
    }
  }
  if (round.due == chunks_ && !round.ended) end(now, round, out);
}

void Aggregation::pass_through(Instant now, LiveRound& round, const Contribution& contribution,
                               std::uint8_t flags, Outbox& out) {
  flags |= contribution.header.flags & flag::kInherited;
  ByteView payload = contribution.payload;
  if (payload.empty()) flags |= flag::kZero;
  const std::byte* sum = nullptr;
  if (!payload.empty() && contribution.coefficient != 1) {
    accumulator_.write(scratch_.at(0), payload.data(), payload.size() / bytes_of(spec_.job.element),
                       contribution.coefficient);
    sum = scratch_.at(0);
    payload = {};
  }
  put_out(now, round, contribution.chunk, contribution.mask, contribution.weight, flags, sum,
          payload, out);
}

// From a sum, or from a payload as it came.
void Aggregation::put_out(Instant now, LiveRound& round, ChunkId chunk, ContributorMask mask,
                          std::uint32_t weight, std::uint8_t flags, const std::byte* sum,
                          ByteView payload, Outbox& out) {
  const JobSpec& job = spec_.job;
  ContributorMask& gone_out = round.ledger[chunk];
  const bool whole = gone_out == 0 && mask == round.spec.expected && (flags & flag::kLate) == 0;
  gone_out |= mask;

  Header header;
  header.set_type(whole ? PacketType::kResult : PacketType::kPartial);
  header.flags = std::uint8_t(flags | (job.element == Element::kI32 ? flag::kGrid : 0));
  header.job = job.id;
  header.round = round.spec.round;
  header.chunk = chunk;
  header.sequence = store_.next();
  header.mask = mask;
  header.weight = weight;
  header.set_content(job.element, job.operation,
                     job.element == Element::kI32 ? spec_.grid.exponent(chunk) : 0);
  header.set_meeting(round.spec.epoch, round.spec.clique);

  const std::size_t bytes = (flags & flag::kZero) != 0 ? 0 : payload_bytes(job, chunk);
  const ByteSpan packet = store_.claim(now, bytes);
  write_header(header, packet);
  if (bytes != 0 && sum != nullptr)
    accumulator_.emit(payload_of(packet).data(), sum, bytes / bytes_of(job.element));
  else if (bytes != 0)
    std::memcpy(payload_of(packet).data(), payload.data(), bytes);
  seals_.own.close(packet);
  counters_.add(EdgeCount::kOutputs);
  hop_.send_first(now);
  out.send(Towards::kIsland, packet);
  if (store_.anyone_in_line()) send_those_in_line(now, out);

  if (gone_out != round.spec.expected) return;
  ++round.complete;
  if (round.complete == chunks_ && !round.ended) end(now, round, out);
}

void Aggregation::end(Instant now, LiveRound& round, Outbox& out) {
  round.ended = true;
  round.due = chunks_;
  announce(PacketType::kEnd, round, out);
  heartbeat_wait_ = std::min(spec_.insist, spec_.heartbeat);
  heartbeat_at_ = now + heartbeat_wait_;
  note_due();
}

void Aggregation::announce(PacketType type, const LiveRound& round, Outbox& out) {
  Header header;
  header.set_type(type);
  header.job = spec_.job.id;
  header.round = round.spec.round;
  header.chunk = store_.next();
  header.weight = round.first_sequence;
  header.mask = round.spec.expected;
  header.sequence = control_sequence_[std::size_t(type)]++;
  header.flags = round.flags;
  header.set_meeting(round.spec.epoch, round.spec.clique);
  Announcement room;
  out.send(Towards::kIsland, write_announcement(room, header, seals_.own));
}

}  // namespace cotillion
