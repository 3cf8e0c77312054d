#include "protocol/aggregation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "protocol/announcement.hpp"

namespace cotillion {

const std::size_t Aggregation::kRoundRecordBytes = sizeof(Aggregation::LiveRound);

Aggregation::Aggregation(const AggregationSpec& spec, AggregationSeals seals)
    : spec_(spec),
      chunks_(chunk_count(spec.job)),
      slot_stride_(stored_sum(spec)),
      accumulator_(accumulator(spec.job.element)),
      seals_(std::move(seals)),
      rounds_(std::size_t(spec.live_rounds)),
      ledger_(std::make_unique_for_overwrite<ContributorMask[]>(std::size_t(spec.live_rounds) *
                                                                chunks_)),
      slots_(spec.slots),
      sums_(spec.slots * slot_stride_),
      scratch_(slot_stride_),
      store_(spec.resend_packets, stored_payload(spec), spec.resend),
      hop_(spec.last_hop, Bytes{std::int64_t(payload_bytes(spec.job))} + spec.framing),
      request_(spec.job.beats),
      heartbeat_wait_(spec.heartbeat),
      tokens_(double(spec.burst.count)) {
  COTILLION_CHECK(checked(spec).has_value());
  for (std::size_t i = 0; i < rounds_.size(); ++i) rounds_[i].ledger = &ledger_[i * chunks_];
}

Aggregation::LiveRound* Aggregation::live(RoundId round) {
  LiveRound& entry = rounds_[place_of(round)];
  return entry.open && entry.spec.round == round ? &entry : nullptr;
}

Result<RoundSpec> Aggregation::open_round(Instant now, const RoundSpec& spec, Outbox& out) {
  auto sound = checked(spec, spec_.job);
  if (!sound) return sound;
  if (spec.members > spec_.members_max)
    return failure(fmt::format("round {}: {} members; job {} may have {} here", spec.round,
                               spec.members, spec_.job.id, spec_.members_max));
  if (any_round_ && spec.round <= newest_)
    return failure(
        fmt::format("round {} after round {}; rounds are never opened twice", spec.round, newest_));
  for (int bit = 0; bit < spec.members; ++bit)
    if ((spec.expected >> unsigned(bit) & 1) != 0 &&
        (spec.source[std::size_t(bit)] < 0 ||
         std::size_t(spec.source[std::size_t(bit)]) >= seals_.sources.size()))
      return failure(fmt::format("round {}: member {} comes on stream {}, which nobody described",
                                 spec.round, bit, spec.source[std::size_t(bit)]));

  LiveRound& round = rounds_[place_of(spec.round)];
  if (round.open) {
    round.due_at = now;
    round.step = round.step_rest = 0;
    expire(now, round, out);
  }
  round.open = true;
  round.spec = spec;
  round.slot_of = SlotFinder(key_of(chunks_, spec.round, 0), slots_.size());
  round.complete = spec.expected == 0 ? chunks_ : 0;
  round.ended = round.acknowledged = spec.expected == 0;  // an island that sits out
  round.flags = 0;
  round.first_sequence = store_.next();
  std::fill_n(round.ledger, chunks_, ContributorMask(0));
  for (int bit = 0; bit < spec.members; ++bit) {
    ContributorMask& together = round.together[std::size_t(bit)];
    together = 0;
    for (int other = 0; other < spec.members; ++other)
      if (spec.source[std::size_t(bit)] == spec.source[std::size_t(other)])
        together |= ContributorMask(1) << unsigned(other);
    together &= spec.expected;
  }
  const std::int64_t steps = std::max<std::int64_t>(1, std::int64_t(chunks_) - 1);
  const std::int64_t span = (spec.last_deadline - spec.first_deadline).ps;
  round.due = round.ended ? chunks_ : 0;
  round.due_at = chunk_deadline(spec, spec_.job, 0);
  round.step = span / steps;
  round.step_rest = span % steps;
  round.rest = 0;
  newest_ = spec.round;
  any_round_ = true;
  announce(PacketType::kHeartbeat, round, out);
  heartbeat_wait_ = spec_.heartbeat;
  heartbeat_at_ = now + heartbeat_wait_;
  note_due();
  return spec;
}

// Of a source about itself, or of the island.
void Aggregation::on_word(Instant now, SourceId source, const Header& header, ByteView packet,
                          Outbox& out) {
  if (header.type() == PacketType::kHeartbeat) return on_heartbeat(source, header, packet);
  if (source == kOwnIsland &&
      (header.type() == PacketType::kNak || header.type() == PacketType::kAck))
    return on_nak(now, header, packet, out);
  counters_.add(EdgeCount::kUnexpected);
}

// An epoch costs a key, so strangers must not make us derive one for each.
bool Aggregation::epoch_is_live(int epoch) const {
  return std::any_of(rounds_.begin(), rounds_.end(), [&](const LiveRound& round) {
    return round.open && round.spec.epoch == epoch;
  });
}

Seal* Aggregation::seal_of(SourceId source) {
  if (source == kOwnIsland) return &seals_.island;
  if (source < 0 || std::size_t(source) >= seals_.sources.size()) return nullptr;
  return &seals_.sources[std::size_t(source)];
}

// Checks that need no key come first: a flood of foreign packets costs little.
void Aggregation::on_sum(Instant now, SourceId source, const Header& header, ByteView packet,
                         Outbox& out) {
  LiveRound* round = live(header.round);
  if (round == nullptr) return counters_.add(EdgeCount::kStaleRound);
  const ByteView payload = payload_of(packet);
  if (!expected(*round, source, header, payload.size()))
    return counters_.add(EdgeCount::kUnexpected);
  Seal& seal = *seal_of(source);
  if (seal.boot() == 0) return counters_.add(EdgeCount::kUnknownBoot);
  if (!seal.holds(packet)) return counters_.add(EdgeCount::kForged);
  if (!within_rate(now, packet.size())) return counters_.add(EdgeCount::kOverRate);
  if (!carries_sum(header.type())) return;

  const ContributorMask mask = header.mask;
  const ChunkId chunk = header.chunk;
  if (!payload.empty() &&
      !accumulator_.finite(payload.data(), payload.size() / bytes_of(spec_.job.element))) {
    counters_.add(EdgeCount::kNotFinite);
    round->flags |= flag::kNanDropped;
    const std::size_t index = round->slot_of(chunk);
    if (slots_[index].mask != 0 && slots_[index].key == key_of(chunks_, header.round, chunk))
      slots_[index].flags |= flag::kNanDropped;
    return;
  }
  const bool single = header.type() == PacketType::kData;
  const std::uint32_t coefficient =
      single ? round->spec.coefficient[std::size_t(std::countr_zero(mask))] : 1;
  merge(now, *round, {header, payload, mask, chunk, header.weight * coefficient, coefficient}, out);
}

bool Aggregation::expected(const LiveRound& round, SourceId source, const Header& header,
                           std::size_t payload) const {
  const RoundSpec& spec = round.spec;
  const ContributorMask mask = header.mask;
  if (header.epoch() != spec.epoch || header.clique() != spec.clique) return false;
  if (mask == 0 || (mask & ~spec.expected) != 0) return false;
  const auto bit = std::size_t(std::countr_zero(mask));
  if (spec.source[bit] != source || (mask & ~round.together[bit]) != 0) return false;
  if (header.type() == PacketType::kEnd) return true;
  if (!carries_sum(header.type()) || header.chunk >= chunks_) return false;

  const JobSpec& job = spec_.job;
  if (header.element() != job.element || header.operation() != job.operation) return false;
  if (header.has(flag::kGrid) != (job.element == Element::kI32)) return false;
  const int exponent = job.element == Element::kI32 ? spec_.grid.exponent(header.chunk) : 0;
  if (header.exponent() != exponent) return false;
  if (payload != (header.has(flag::kZero) ? 0 : payload_bytes(job, header.chunk)) ||
      (payload != 0 && spec_.payloads == Payloads::kCounted))
    return false;
  if (header.type() == PacketType::kData)
    return std::has_single_bit(mask) && header.weight == spec.weight[bit];
  return header.weight == weight_of(spec, mask);
}

bool Aggregation::within_rate(Instant now, std::size_t bytes) {
  if (spec_.rate_max.value <= 0) return true;
  const Duration passed = std::max(now - tokens_at_, Duration{0});  // hosts' clocks may step back
  tokens_ += RealDuration(passed).seconds() * bytes_per_second(spec_.rate_max);
  tokens_ = std::min(tokens_, double(spec_.burst.count));
  tokens_at_ = now;
  if (tokens_ < double(bytes)) return false;
  tokens_ -= double(bytes);
  return true;
}

void Aggregation::on_heartbeat(SourceId source, const Header& header, ByteView packet) {
  Seal* seal = seal_of(source);
  // A source says whose contributions it sends; the island sends none.
  const bool nobody = source != kOwnIsland && header.mask == 0;
  if (seal == nullptr || nobody || !epoch_is_live(header.epoch()))
    return counters_.add(EdgeCount::kUnexpected);
  if (!believe(*seal, packet)) counters_.add(EdgeCount::kForged);
}

void Aggregation::on_nak(Instant now, const Header& header, ByteView packet, Outbox& out) {
  if (!epoch_is_live(header.epoch())) return counters_.add(EdgeCount::kUnexpected);
  if (seals_.island.boot() == 0) return counters_.add(EdgeCount::kUnknownBoot);
  if (!seals_.island.holds(packet)) return counters_.add(EdgeCount::kForged);
  if (header.type() == PacketType::kAck) {
    store_.acknowledge_below(header.chunk);
    if (LiveRound* round = live(header.round)) round->acknowledged = true;
    return;
  }
  request_.clear();
  const auto send_gone = [&] {
    Header gone;
    gone.set_type(PacketType::kGone);
    gone.job = spec_.job.id;
    gone.round = header.round;
    gone.epoch_clique = header.epoch_clique;
    gone.sequence = control_sequence_[std::size_t(PacketType::kGone)]++;
    const ByteSpan answer = request_.packet(gone);
    seals_.own.close(answer);
    out.send(Towards::kIsland, answer);
    request_.clear();
  };
  for_each_requested(header, payload_of(packet), [&](std::uint32_t sequence) {
    if (std::int32_t(sequence - store_.next()) >= 0) return;  // not sent yet
    if (store_.just_resent(now, sequence, spec_.linger))
      return counters_.add(EdgeCount::kResendsSpared);
    if (store_.holds(sequence)) {
      if (!store_.anyone_in_line() && hop_.lets_repeats_go(now))
        return send_again(now, store_.fetch(now, sequence), out);
      if (!store_.line_up(sequence)) counters_.add(EdgeCount::kResendsSpared);
      return;
    }
    counters_.add(EdgeCount::kGone);
    request_.add_or(sequence, send_gone);
  });
  if (!request_.empty()) send_gone();
  note_due();
}

void Aggregation::send_again(Instant now, ByteSpan kept, Outbox& out) {
  kept[offsetof(Header, flags)] |= std::byte(flag::kResent);
  counters_.add(EdgeCount::kResends);
  hop_.send_again(now);
  out.send(Towards::kIsland, kept);
}

void Aggregation::send_those_in_line(Instant now, Outbox& out) {
  while (hop_.lets_repeats_go(now)) {
    const auto next = store_.next_in_line();
    if (!next) return;
    const ByteSpan kept = store_.fetch(now, *next);
    if (live(read_header(kept)->round) == nullptr) continue;  // nobody waits for it any more
    send_again(now, kept, out);
  }
}

void Aggregation::on_deadline(Instant now, Outbox& out) {
  for (LiveRound& round : rounds_) {
    if (!round.open) continue;
    if (round.due < chunks_ && round.due_at <= now) expire(now, round, out);
  }
  send_those_in_line(now, out);
  if (heartbeat_at_ > now) return note_due();
  const LiveRound* newest = live(newest_);
  announce(PacketType::kHeartbeat, *newest, out);
  // Silence once the island has said that it needs nothing more.
  const bool done = std::all_of(rounds_.begin(), rounds_.end(), [](const LiveRound& round) {
    return !round.open || round.acknowledged;
  });
  heartbeat_wait_ = std::min(heartbeat_wait_ + heartbeat_wait_, spec_.heartbeat);
  heartbeat_at_ = done ? kNever : now + heartbeat_wait_;
  note_due();
}

void Aggregation::note_due() {
  due_ = heartbeat_at_;
  if (store_.anyone_in_line()) due_ = std::min(due_, hop_.room_at());
  for (const LiveRound& round : rounds_)
    if (round.open && round.due < chunks_) due_ = std::min(due_, round.due_at);
}

void Aggregation::flush(Instant now, Outbox& out) {
  hop_ = LastHop({}, {});  // nobody will come back for what waits
  send_those_in_line(now, out);
  for (LiveRound& round : rounds_)
    if (round.open && round.due < chunks_) {
      round.due_at = now;
      round.step = round.step_rest = 0;
      expire(now, round, out);
    }
  note_due();
}

}  // namespace cotillion
