#include "protocol/receiver.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"

namespace cotillion {

Receiver::Receiver(const ReceiverSettings& settings, Snapshots& snapshots, Merge& merge, Seal own,
                   Seal edge)
    : settings_(settings),
      job_(snapshots.job()),
      snapshots_(snapshots),
      merge_(merge),
      rounds_(job_, settings.live_rounds, snapshots.counted()),
      hop_(job_, settings.gaps, settings.heartbeat, std::move(own), std::move(edge)),
      sums_(job_, settings.live_rounds, snapshots.counted()),
      late_(settings.late_chunks, sums_.stride()),
      buffers_(elements_per_chunk(job_)) {
  COTILLION_CHECK(settings.live_rounds > 0);
  COTILLION_CHECK(settings.live_rounds <= snapshots.live_rounds());
}

Instant Receiver::fragment_deadline(const ReceivedRound& round, int fragment) const {
  if (settings_.exchange == Exchange::kWhole) return round.plan.merge_at;
  const ChunkId last = first_chunk(job_, fragment + 1) - 1;
  return std::max(round.plan.merge_at, chunk_deadline(round.spec(), job_, last) + round.plan.grace);
}

Result<RoundSpec> Receiver::open_round(Instant now, const ReceiverRound& given, Outbox& out,
                                       ReceiverEvents& events) {
  auto sound = checked(given.spec, job_);
  if (!sound) return sound;
  if (given.spec.own < 0) return failure("a receiver needs its island's own bit");
  if (const auto safe = checked(merge_.settings(), given.spec.members == settings_.islands); !safe)
    return Unexpected<Error>{safe.error()};
  const RoundId number = given.spec.round;
  if (!rounds_.may_follow(number))
    return failure(fmt::format("round {} after round {}; rounds are never opened twice", number,
                               rounds_.newest()));
  if (ReceivedRound& old = rounds_.at_place_of(number); old.open) leave(now, old, out, events);
  rounds_.open(now, given);
  for (LateChunk& late : late_.all())
    if (late.used && rounds_.share_a_place(late.round, number)) {
      late.used = false;
      counters_.add(ReceiverCount::kTooLate);
    }
  hop_.begin({now, out, counters_}, rounds_);
  return given.spec;
}

// Its place is needed: what can be merged is, and the rest is lost.
void Receiver::leave(Instant now, ReceivedRound& round, Outbox& out, ReceiverEvents& events) {
  round.plan.merge_at = std::min(round.plan.merge_at, now);
  while (round.due < job_.fragments) round.pass_deadline();
  for (int f = 0; f < job_.fragments; ++f) make_ready(now, round, f, events);
  if (!round.closed) close(round, out, events);
  for (int f = 0; f < job_.fragments; ++f)
    if (round.spec().expected != 0 && round.fragments[f].state != FragmentState::kMerged)
      counters_.add(ReceiverCount::kUnmerged);
  sums_.give_back_all(round);
}

void Receiver::on_packet(Instant now, ByteView packet, Outbox& out, ReceiverEvents& events) {
  on_time(now, out, events);
  const HopTurn turn{now, out, counters_};
  const auto header = read_header(packet);
  if (!header) return counters_.add(ReceiverCount::kMalformed);
  if (header->job != job_.id) return counters_.add(ReceiverCount::kUnexpected);
  ReceivedRound* round = rounds_.find(header->round);
  if (header->type() == PacketType::kHeartbeat) return on_heartbeat(turn, round, *header, packet);
  if (!rounds_.epoch_is_live(header->epoch())) return counters_.add(ReceiverCount::kStaleRound);
  if (!hop_.holds(turn, *header, packet)) return;
  if (round == nullptr) return counters_.add(ReceiverCount::kStaleRound);
  const ByteView payload = payload_of(packet);
  if (!meets(*round, *header) ||
      (carries_sum(header->type()) && !expected(*round, *header, payload.size())))
    return counters_.add(ReceiverCount::kUnexpected);

  switch (header->type()) {
    case PacketType::kEnd:
      hop_.on_end(now, *round, *header);
      break;
    case PacketType::kGone:
      hop_.on_gone(turn, *header, payload);
      break;
    case PacketType::kData:
    case PacketType::kPartial:
    case PacketType::kResult:
      hop_.on_sum(*round, *header);
      place(now, *round, *header, payload, events);
      if (round->incomplete == 0 && !round->closed) close(*round, out, events);
      break;
    default:
      return counters_.add(ReceiverCount::kUnexpected);
  }
  hop_.ask(turn, rounds_);
}

bool Receiver::meets(const ReceivedRound& round, const Header& header) {
  return header.epoch() == round.spec().epoch && header.clique() == round.spec().clique;
}

void Receiver::on_heartbeat(const HopTurn& turn, ReceivedRound* round, const Header& header,
                            ByteView packet) {
  if (round == nullptr) return counters_.add(ReceiverCount::kStaleRound);
  if (!meets(*round, header)) return counters_.add(ReceiverCount::kUnexpected);
  if (!hop_.hear_heartbeat(turn, rounds_, *round, header, packet))
    counters_.add(ReceiverCount::kForged);
}

bool Receiver::expected(const ReceivedRound& round, const Header& header,
                        std::size_t payload) const {
  const RoundSpec& spec = round.spec();
  const ContributorMask mask = header.mask;
  const bool grid = job_.element == Element::kI32;
  if (mask == 0 || (mask & ~spec.expected) != 0 || header.chunk >= rounds_.chunks()) return false;
  if (header.element() != job_.element || header.operation() != job_.operation) return false;
  if (header.has(flag::kGrid) != grid) return false;
  if (header.exponent() != (grid ? snapshots_.grid().exponent(header.chunk) : 0)) return false;
  if (payload != (header.has(flag::kZero) ? 0 : payload_bytes(job_, header.chunk))) return false;
  return header.weight == weight_of(spec, mask);
}

// The merge rule of an edge, with a slot for every chunk.
void Receiver::place(Instant now, ReceivedRound& round, const Header& header, ByteView payload,
                     ReceiverEvents& events) {
  const ChunkId chunk = header.chunk;
  if (!sums_.finite(payload)) return counters_.add(ReceiverCount::kNotFinite);
  const int f = fragment_of(job_, chunk);
  ReceivedFragment& fragment = round.fragments[f];
  if (fragment.state >= FragmentState::kMerging) return place_late(round, header, payload, events);

  ContributorMask& seen = round.masks[chunk];
  const ContributorMask mask = header.mask;
  if ((mask & ~seen) == 0) return counters_.add(ReceiverCount::kDuplicates);
  if ((mask & seen) != 0) return counters_.add(ReceiverCount::kOverlaps);
  if (!payload.empty() && !sums_.add(round, chunk, payload))
    return counters_.add(ReceiverCount::kNotFinite);
  counters_.add(ReceiverCount::kPlaced);
  round.last_placed = now;
  if (seen == 0 && mask == round.spec().expected) counters_.add(ReceiverCount::kWhole);
  seen |= mask;
  if (round.lacks_somebody(chunk)) return;
  --round.incomplete;
  if (--fragment.incomplete > 0) return;
  if (fragment.state == FragmentState::kOpen && f >= round.due) ++round.waiting;
  make_ready(now, round, f, events);
}

void Receiver::place_late(ReceivedRound& round, const Header& header, ByteView payload,
                          ReceiverEvents& events) {
  LateChunk* late = late_.find(header.round, header.chunk);
  const ContributorMask mask = header.mask;
  const ContributorMask seen = round.masks[header.chunk] | (late == nullptr ? 0 : late->mask);
  if ((mask & ~seen) == 0) return counters_.add(ReceiverCount::kDuplicates);
  if ((mask & seen) != 0) return counters_.add(ReceiverCount::kOverlaps);
  if (late == nullptr) late = late_.take(header.round, header.chunk);
  if (late == nullptr) return counters_.add(ReceiverCount::kTooLate);
  if (!payload.empty() && !sums_.add_payload(late_.sum_of(*late), payload))
    return counters_.add(ReceiverCount::kNotFinite);
  counters_.add(ReceiverCount::kLate);
  late->mask |= mask;
  const int fragment = fragment_of(job_, header.chunk);
  if (was_copied_since(round.spec().round, fragment)) counters_.add(ReceiverCount::kOvertaken);
  events.late_ready(round.spec().round, fragment);
}

void Receiver::make_ready(Instant now, ReceivedRound& round, int fragment, ReceiverEvents& events) {
  if (round.fragments[fragment].state != FragmentState::kOpen || now < round.plan.merge_at) return;
  if (round.spec().expected == 0) return;  // nothing to merge with
  // Others may be ahead of us: no merge before our own copy of the same fragment has left.
  if (!snapshots_.taken(round.spec().round, first_chunk(job_, fragment + 1) - 1)) return;
  round.fragments[fragment].state = FragmentState::kReady;
  --round.waiting;
  if (was_copied_since(round.spec().round, fragment)) counters_.add(ReceiverCount::kOvertaken);
  events.fragment_ready(round.spec().round, fragment);
}

bool Receiver::was_copied_since(RoundId round, int fragment) const {
  for (RoundId next = round + 1; next < round + RoundId(snapshots_.live_rounds()); ++next)
    if (snapshots_.taken(next, first_chunk(job_, fragment))) return true;
  return false;
}

void Receiver::close(ReceivedRound& round, Outbox& out, ReceiverEvents& events) {
  round.closed = true;
  const std::span<const Absence> absences = absences_.of(round, rounds_.chunks());
  hop_.close(rounds_, round, out);
  events.round_closed(round.spec().round, absences);
}

void Receiver::on_time(Instant now, Outbox& out, ReceiverEvents& events) {
  now_ = now;
  for (ReceivedRound& round : rounds_.all()) {
    if (!round.open) continue;
    while (round.due < job_.fragments && fragment_deadline(round, round.due) <= now)
      round.pass_deadline();
    for (int f = 0; round.waiting > 0 && now >= round.plan.merge_at && f < job_.fragments; ++f)
      if (f < round.due || round.fragments[f].incomplete == 0) make_ready(now, round, f, events);
    if (round.closed) continue;
    if (round.closes_at() <= now || round.incomplete == 0) close(round, out, events);
  }
  hop_.on_time({now, out, counters_}, rounds_);
}

Instant Receiver::next_deadline() const {
  Instant soonest = hop_.next_deadline();
  for (const ReceivedRound& round : rounds_.all()) {
    if (!round.open) continue;
    if (round.due < job_.fragments)
      soonest = std::min(soonest, fragment_deadline(round, round.due));
    if (round.waiting > 0 && round.plan.merge_at > now_)
      soonest = std::min(soonest, round.plan.merge_at);
    if (!round.closed) soonest = std::min(soonest, round.closes_at());
  }
  return soonest;
}

Instant Receiver::last_placed(RoundId round) const {
  const ReceivedRound* found = rounds_.find(round);
  return found == nullptr ? Instant{0} : found->last_placed;
}

std::span<const ContributorMask> Receiver::contributors(RoundId round) const {
  const ReceivedRound* found = rounds_.find(round);
  if (found == nullptr) return {};
  return {found->masks, rounds_.chunks()};
}

}  // namespace cotillion
