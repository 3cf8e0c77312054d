#include "protocol/aggregation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"

namespace cotillion {
namespace {

// Of a chunk that is whole, by whether parts of it went out before.
EdgeCount completion_of(ContributorMask gone_out) {
  return gone_out == 0 ? EdgeCount::kResults : EdgeCount::kCompletedPartials;
}

}  // namespace

Aggregation::Aggregation(const AggregationSpec& spec, AggregationSeals seals)
    : spec_(spec),
      admission_(spec, std::move(seals.island), std::move(seals.sources)),
      rounds_(spec.job, spec.live_rounds),
      slots_(spec),
      hop_(spec, std::move(seals.own)) {
  COTILLION_CHECK(checked(spec).has_value());
}

Result<RoundSpec> Aggregation::open_round(Instant now, const RoundSpec& spec, Outbox& out) {
  auto sound = checked(spec, spec_.job);
  if (!sound) return sound;
  if (spec.members > spec_.members_max)
    return failure(fmt::format("round {}: {} members; job {} may have {} here", spec.round,
                               spec.members, spec_.job.id, spec_.members_max));
  if (!rounds_.may_follow(spec.round))
    return failure(fmt::format("round {} after round {}; rounds are never opened twice", spec.round,
                               rounds_.newest().spec.round));
  if (const int bit = admission_.stranger_in(spec); bit >= 0)
    return failure(fmt::format("round {}: member {} comes on stream {}, which nobody described",
                               spec.round, bit, spec.source[std::size_t(bit)]));

  const EdgeTurn turn{now, out, counters_};
  if (EdgeRound& leaving = rounds_.at_place_of(spec.round); leaving.open) {
    leaving.due.hurry(now);
    expire(turn, leaving);
  }
  hop_.begin(turn, rounds_.open(spec, slots_.size(), hop_.next_sequence()));
  note_due();
  return spec;
}

// Of a source about itself, or of the island.
void Aggregation::on_word(const EdgeTurn& turn, const HeardPacket& heard) {
  const PacketType type = heard.header.type();
  const bool request = type == PacketType::kNak || type == PacketType::kAck;
  // An epoch costs a key, so strangers must not make us derive one for each.
  if ((type != PacketType::kHeartbeat && !request) || !rounds_.epoch_is_live(heard.header.epoch()))
    return counters_.add(EdgeCount::kUnexpected);
  if (request) return on_request(turn, heard);
  if (const auto refused = admission_.hear_heartbeat(heard)) counters_.add(*refused);
}

void Aggregation::on_request(const EdgeTurn& turn, const HeardPacket& heard) {
  if (const auto refused = admission_.refusal_of_request(heard)) return counters_.add(*refused);
  const Header& header = heard.header;
  if (header.type() == PacketType::kAck) {
    hop_.acknowledge_below(header.chunk);
    if (EdgeRound* round = rounds_.find(header.round)) round->acknowledged = true;
    return;
  }
  hop_.answer(turn, header, payload_of(heard.packet));
  note_due();
}

void Aggregation::on_sum(const EdgeTurn& turn, const HeardPacket& heard) {
  const Header& header = heard.header;
  EdgeRound* round = rounds_.find(header.round);
  if (round == nullptr) return counters_.add(EdgeCount::kStaleRound);
  if (const auto refused = admission_.refusal(turn.now, spec_, *round, heard)) {
    if (*refused == EdgeCount::kNotFinite) note_not_finite(*round, header.chunk);
    return counters_.add(*refused);
  }
  if (!carries_sum(header.type())) return;
  const bool single = header.type() == PacketType::kData;
  const std::uint32_t coefficient =
      single ? round->spec.coefficient[std::size_t(std::countr_zero(ContributorMask(header.mask)))]
             : 1;
  merge(turn, *round,
        {.chunk = header.chunk,
         .mask = header.mask,
         .weight = header.weight * coefficient,
         .coefficient = coefficient,
         .flags = header.flags,
         .payload = payload_of(heard.packet)});
}

void Aggregation::note_not_finite(EdgeRound& round, ChunkId chunk) {
  round.flags |= flag::kNanDropped;
  const std::size_t index = round.slot_of(chunk);
  if (slots_[index].holds(key_of(rounds_.chunks(), round.spec.round, chunk)))
    slots_.mark(index, flag::kNanDropped);
}

// Carries out what the merge rule says.
void Aggregation::merge(const EdgeTurn& turn, EdgeRound& round, const Contribution& contribution) {
  const ChunkId chunk = contribution.chunk;
  const ChunkKey key = key_of(rounds_.chunks(), round.spec.round, chunk);
  const std::size_t index = round.slot_of(chunk);
  const Slot& slot = slots_[index];
  // A slot knows whether to look into the ledger, which is elsewhere in memory.
  const bool apart = slot.holds(key) && !slot.parted;
  const LedgerState ledger{apart ? 0 : round.ledger[chunk], round.spec.expected,
                           round.due.has_passed(chunk)};
  const auto [fate, completes] = decide(slot, ledger, {key, contribution.mask});
  if (fate == MergeFate::kDuplicate) return counters_.add(EdgeCount::kDuplicates);
  if (fate == MergeFate::kOverlap) return counters_.add(EdgeCount::kOverlaps);
  counters_.add(EdgeCount::kAccepted);
  if ((contribution.flags & flag::kResent) != 0) counters_.add(EdgeCount::kRepaired);

  if (fate == MergeFate::kPassesLate) {
    counters_.add(EdgeCount::kLate);
    return pass_through(turn, round, contribution, flag::kLate);
  }
  const bool held = completes && !round.held.has_passed(chunk) &&
                    (fate != MergeFate::kPassesWhole || slot.is_free());
  if (completes && !held) counters_.add(completion_of(ledger.gone_out));
  if (fate == MergeFate::kPassesWhole && !held) return pass_through(turn, round, contribution, 0);
  if (fate == MergeFate::kEvicts) put_aside(turn, index);
  if (fate != MergeFate::kJoins) slots_.start(index, key, ledger.gone_out != 0);
  slots_.join(index, contribution);
  if (completes && !held) evict(turn, round, chunk, index);
}

bool Aggregation::is_whole(const EdgeRound& round, ChunkId chunk, std::size_t index) const {
  return (slots_[index].mask | round.ledger[chunk]) == round.spec.expected;
}

// A sum leaves its slot because it is whole and was held until its turn, or for another reason.
void Aggregation::count_leaving(const EdgeRound& round, ChunkId chunk, std::size_t index,
                                EdgeCount otherwise) {
  counters_.add(is_whole(round, chunk, index) ? completion_of(round.ledger[chunk]) : otherwise);
}

// Whoever is in the slot.
void Aggregation::put_aside(const EdgeTurn& turn, std::size_t index) {
  const ChunkKey key = slots_[index].key;
  EdgeRound* round = rounds_.find(RoundId(key / rounds_.chunks()));
  COTILLION_CHECK(round != nullptr);  // no slot outlives its deadline
  const auto chunk = ChunkId(key % rounds_.chunks());
  count_leaving(*round, chunk, index, EdgeCount::kConflicts);
  evict(turn, *round, chunk, index);
}

void Aggregation::evict(const EdgeTurn& turn, EdgeRound& round, ChunkId chunk, std::size_t index) {
  const Slot leaving = slots_.take(index);
  put_out(turn, round,
          {.chunk = chunk,
           .mask = leaving.mask,
           .weight = leaving.weight,
           .flags = leaving.flags,
           .sum = slots_.sum_of(index),
           .payload = {}});
}

void Aggregation::pass_through(const EdgeTurn& turn, EdgeRound& round,
                               const Contribution& contribution, std::uint8_t flags) {
  LeavingSum leaving{.chunk = contribution.chunk,
                     .mask = contribution.mask,
                     .weight = contribution.weight,
                     .flags = std::uint8_t(flags | (contribution.flags & flag::kInherited)),
                     .sum = nullptr,
                     .payload = contribution.payload};
  if (leaving.payload.empty())
    leaving.flags |= flag::kZero;
  else if (contribution.coefficient != 1)
    leaving.sum = slots_.sum_of(contribution);
  put_out(turn, round, leaving);
}

// Those whose turn has come, as far as they are whole.
void Aggregation::release(const EdgeTurn& turn, EdgeRound& round) {
  for (; !round.held.is_done() && round.held.at() <= turn.now; round.held.step()) {
    const ChunkId chunk = round.held.chunk();
    const std::size_t index = round.slot_of(chunk);
    if (!slots_[index].holds(key_of(rounds_.chunks(), round.spec.round, chunk)) ||
        !is_whole(round, chunk, index))
      continue;
    counters_.add(completion_of(round.ledger[chunk]));
    evict(turn, round, chunk, index);
  }
}

void Aggregation::expire(const EdgeTurn& turn, EdgeRound& round) {
  DeadlinePointer& due = round.due;
  for (; !due.is_done() && due.at() <= turn.now; due.step()) {
    const std::size_t index = round.slot_of(due.chunk());
    const Slot& slot = slots_[index];
    if (!slot.holds(key_of(rounds_.chunks(), round.spec.round, due.chunk()))) continue;
    count_leaving(round, due.chunk(), index, EdgeCount::kTimeouts);
    evict(turn, round, due.chunk(), index);
  }
  if (due.is_done() && !round.ended) end(turn, round);
}

// Enters it in the ledger and sends it.
void Aggregation::put_out(const EdgeTurn& turn, EdgeRound& round, LeavingSum leaving) {
  ContributorMask& gone_out = round.ledger[leaving.chunk];
  const bool late = (leaving.flags & flag::kLate) != 0;
  COTILLION_CHECK((gone_out & leaving.mask) == 0);
  leaving.type = type_of_sum({gone_out, round.spec.expected}, leaving.mask, late);
  leaving.exponent = spec_.job.element == Element::kI32 ? spec_.grid.exponent(leaving.chunk) : 0;
  gone_out |= leaving.mask;
  hop_.send(turn, rounds_, round, leaving);
  if (gone_out != round.spec.expected) return;
  if (++round.complete == rounds_.chunks() && !round.ended) end(turn, round);
}

void Aggregation::end(const EdgeTurn& turn, EdgeRound& round) {
  round.ended = true;
  round.due.finish();
  round.held.finish();
  hop_.end(turn, round);
  note_due();
}

void Aggregation::on_deadline(const EdgeTurn& turn) {
  for (EdgeRound& round : rounds_.all()) {
    if (!round.open) continue;
    if (!round.held.is_done() && round.held.at() <= turn.now) release(turn, round);
    if (!round.due.is_done() && round.due.at() <= turn.now) expire(turn, round);
  }
  hop_.on_time(turn, rounds_);
  note_due();
}

void Aggregation::flush(Instant now, Outbox& out) {
  const EdgeTurn turn{now, out, counters_};
  hop_.flush(turn, rounds_);
  for (EdgeRound& round : rounds_.all())
    if (round.open && !round.due.is_done()) {
      round.due.hurry(now);
      expire(turn, round);
    }
  note_due();
}

}  // namespace cotillion
