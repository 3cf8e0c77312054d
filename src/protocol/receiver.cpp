#include "protocol/receiver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "protocol/announcement.hpp"

namespace cotillion {

Receiver::Receiver(const ReceiverSettings& settings, Snapshots& snapshots, Merge& merge, Seal own,
                   Seal edge)
    : settings_(settings),
      snapshots_(snapshots),
      merge_(merge),
      own_(std::move(own)),
      edge_(std::move(edge)),
      job_(snapshots.job()),
      chunks_(chunk_count(job_)),
      stride_(whole_lines(slot_bytes(job_))),
      accumulator_(accumulator(job_.element)),
      rounds_(std::size_t(settings.live_rounds)),
      masks_(std::make_unique_for_overwrite<ContributorMask[]>(rounds_.size() * chunks_)),
      blank_(std::make_unique_for_overwrite<std::uint8_t[]>(rounds_.size() * chunks_)),
      fragments_(rounds_.size() * std::size_t(job_.fragments)),
      owed_of_(snapshots.counted() ? 0 : rounds_.size() * chunks_, kNoBlock),
      sums_(fragments_.size(),
            stride_ * ((chunks_ + ChunkId(job_.fragments) - 1) / ChunkId(job_.fragments))),
      owed_(owed_of_.size(), stride_ + payload_bytes(job_)),
      late_(settings.late_chunks),
      late_sums_(settings.late_chunks * stride_),
      scratch_(stride_),
      average_(elements_per_chunk(job_)),
      before_(elements_per_chunk(job_)),
      sent_(elements_per_chunk(job_)),
      absences_(kCliqueMembersMax),
      gaps_(settings.gaps),
      request_(job_.beats) {
  COTILLION_CHECK(own_.boot() != 0 && settings.live_rounds > 0);
  COTILLION_CHECK(settings.live_rounds <= snapshots.live_rounds());
  for (std::size_t i = 0; i < rounds_.size(); ++i) {
    rounds_[i].masks = &masks_[i * chunks_];
    rounds_[i].blank = &blank_[i * chunks_];
    if (!owed_of_.empty()) rounds_[i].owed = &owed_of_[i * chunks_];
    rounds_[i].fragments = &fragments_[i * std::size_t(job_.fragments)];
  }
}

Receiver::LiveRound* Receiver::live(RoundId round) {
  LiveRound& entry = rounds_[round % rounds_.size()];
  return entry.open && entry.round.spec.round == round ? &entry : nullptr;
}

const Receiver::LiveRound* Receiver::live(RoundId round) const {
  return const_cast<Receiver*>(this)->live(round);
}

std::byte* Receiver::sum_of(LiveRound& round, int fragment, ChunkId chunk) {
  std::uint32_t& block = round.fragments[fragment].sums;
  if (block == kNoBlock) block = sums_.lend();
  return sums_.at(block) + std::size_t(chunk - first_chunk(job_, fragment)) * stride_;
}

Instant Receiver::fragment_deadline(const LiveRound& round, int fragment) const {
  if (settings_.exchange == Exchange::kWhole) return round.round.merge_at;
  const ChunkId last = first_chunk(job_, fragment + 1) - 1;
  return std::max(round.round.merge_at,
                  chunk_deadline(round.round.spec, job_, last) + round.round.grace);
}

Result<RoundSpec> Receiver::open_round(Instant now, const ReceiverRound& given, Outbox& out,
                                       ReceiverEvents& events) {
  auto sound = checked(given.spec, job_);
  if (!sound) return sound;
  if (given.spec.own < 0) return failure("a receiver needs its island's own bit");
  if (const auto safe = checked(merge_.settings(), given.spec.members == settings_.islands); !safe)
    return Unexpected<Error>{safe.error()};
  if (any_round_ && given.spec.round <= newest_)
    return failure(fmt::format("round {} after round {}; rounds are never opened twice",
                               given.spec.round, newest_));
  LiveRound& round = rounds_[given.spec.round % rounds_.size()];
  if (round.open) {
    round.round.merge_at = std::min(round.round.merge_at, now);
    for (; round.due < job_.fragments; ++round.due)
      if (round.fragments[round.due].state == FragmentState::kOpen &&
          round.fragments[round.due].incomplete > 0)
        ++round.waiting;
    for (int f = 0; f < job_.fragments; ++f) make_ready(now, round, f, events);
    if (!round.closed) close(round, out, events);
    for (int f = 0; f < job_.fragments; ++f)
      if (round.round.spec.expected != 0 && round.fragments[f].state != FragmentState::kMerged)
        counters_.add(ReceiverCount::kUnmerged);
    give_back(round);
  }
  round.open = true;
  round.closed = false;
  round.round = given;
  const bool alone = given.spec.expected == 0;
  round.incomplete = alone ? 0 : chunks_;
  round.due = 0;
  round.last_placed = now;
  round.waiting = alone ? job_.fragments : 0;
  round.end_known = round.first_known = round.seen_any = false;
  std::fill_n(round.masks, chunks_, ContributorMask(0));
  std::fill_n(round.blank, chunks_, std::uint8_t(1));
  for (int f = 0; f < job_.fragments; ++f)
    round.fragments[f] = {FragmentState::kOpen,
                          alone ? 0 : first_chunk(job_, f + 1) - first_chunk(job_, f), kNoBlock};
  for (LateChunk& late : late_)
    if (late.used && late.round % rounds_.size() == given.spec.round % rounds_.size()) {
      late.used = false;
      counters_.add(ReceiverCount::kTooLate);
    }
  newest_ = given.spec.round;
  any_round_ = true;
  announce(out);
  heartbeat_at_ = now + settings_.heartbeat;
  return given.spec;
}

void Receiver::on_packet(Instant now, ByteView packet, Outbox& out, ReceiverEvents& events) {
  on_time(now, out, events);
  const auto header = read_header(packet);
  if (!header) return counters_.add(ReceiverCount::kMalformed);
  if (header->job != job_.id) return counters_.add(ReceiverCount::kUnexpected);
  LiveRound* round = live(header->round);
  if (header->type() == PacketType::kHeartbeat) return on_announcement(now, round, *header, packet);
  const bool epoch_is_live = std::any_of(rounds_.begin(), rounds_.end(), [&](const auto& other) {
    return other.open && other.round.spec.epoch == header->epoch();
  });
  if (!epoch_is_live) return counters_.add(ReceiverCount::kStaleRound);
  if (edge_.boot() == 0) return counters_.add(ReceiverCount::kUnknownBoot);
  if (!edge_.holds(packet)) return counters_.add(ReceiverCount::kForged);
  heard_ = now;
  if (!hop_known_ && (carries_sum(header->type()) || header->type() == PacketType::kEnd))
    begin_hop(header->type() == PacketType::kEnd
                  ? std::uint32_t(header->weight)
                  : header->sequence - std::min<std::uint32_t>(header->chunk, header->sequence));
  // It has come, whatever becomes of it: nothing to ask for again.
  if (carries_sum(header->type()) && header->has(flag::kResent))
    gaps_.answer(now, header->sequence);
  else if (carries_sum(header->type()))
    gaps_.arrive(now, header->sequence);
  if (round == nullptr) return counters_.add(ReceiverCount::kStaleRound);
  if (!meets(*round, *header) ||
      (carries_sum(header->type()) && !expected(*round, *header, payload_of(packet).size())))
    return counters_.add(ReceiverCount::kUnexpected);

  switch (header->type()) {
    case PacketType::kEnd:
      round->first = header->weight;
      round->first_known = true;
      round->end = header->chunk;
      round->end_known = true;
      gaps_.expect(now, header->chunk);
      break;
    case PacketType::kGone:
      for_each_requested(*header, payload_of(packet), [&](std::uint32_t sequence) {
        counters_.add(ReceiverCount::kGone);
        gaps_.give_up(sequence);
      });
      answered_ = true;
      break;
    case PacketType::kData:
    case PacketType::kPartial:
    case PacketType::kResult:
      if (header->has(flag::kResent)) answered_ = true;
      if (!round->seen_any || std::int32_t(header->sequence + 1 - round->seen_to) > 0)
        round->seen_to = header->sequence + 1;
      round->seen_any = true;
      place(now, *round, *header, payload_of(packet), events);
      if (round->incomplete == 0 && !round->closed) close(*round, out, events);
      break;
    default:
      return counters_.add(ReceiverCount::kUnexpected);
  }
  ask(now, out);
}

bool Receiver::meets(const LiveRound& round, const Header& header) {
  return header.epoch() == round.round.spec.epoch && header.clique() == round.round.spec.clique;
}

bool Receiver::expected(const LiveRound& round, const Header& header, std::size_t payload) const {
  const RoundSpec& spec = round.round.spec;
  const ContributorMask mask = header.mask;
  const bool grid = job_.element == Element::kI32;
  if (mask == 0 || (mask & ~spec.expected) != 0 || header.chunk >= chunks_) return false;
  if (header.element() != job_.element || header.operation() != job_.operation) return false;
  if (header.has(flag::kGrid) != grid) return false;
  if (header.exponent() != (grid ? snapshots_.grid().exponent(header.chunk) : 0)) return false;
  if (payload != (header.has(flag::kZero) ? 0 : payload_bytes(job_, header.chunk))) return false;
  return header.weight == weight_of(spec, mask);
}

// The merge rule of an edge, with a slot for every chunk.
void Receiver::place(Instant now, LiveRound& round, const Header& header, ByteView payload,
                     ReceiverEvents& events) {
  const ChunkId chunk = header.chunk;
  const std::size_t elements = payload.size() / bytes_of(job_.element);
  if (!accumulator_.finite(payload.data(), elements))
    return counters_.add(ReceiverCount::kNotFinite);
  const int f = fragment_of(job_, chunk);
  Fragment& fragment = round.fragments[f];
  if (fragment.state >= FragmentState::kMerging)
    return place_late(round, header, payload, round.masks[chunk], events);

  ContributorMask& seen = round.masks[chunk];
  const ContributorMask mask = header.mask;
  if ((mask & ~seen) == 0) return counters_.add(ReceiverCount::kDuplicates);
  if ((mask & seen) != 0) return counters_.add(ReceiverCount::kOverlaps);
  if (!payload.empty()) {
    if (!add_finite(sum_of(round, f, chunk), round.blank[chunk] != 0, accumulator_, payload.data(),
                    elements))
      return counters_.add(ReceiverCount::kNotFinite);
    round.blank[chunk] = 0;
  }
  counters_.add(ReceiverCount::kPlaced);
  round.last_placed = now;
  if (seen == 0 && mask == round.round.spec.expected) counters_.add(ReceiverCount::kWhole);
  seen |= mask;
  if (seen != round.round.spec.expected) return;
  --round.incomplete;
  if (--fragment.incomplete > 0) return;
  if (fragment.state == FragmentState::kOpen && f >= round.due) ++round.waiting;
  make_ready(now, round, f, events);
}

// Two finite sums may add up to infinity, which must not reach the model: then the second one is
// left out, and missed.
bool Receiver::add_finite(std::byte* sum, bool first, const Accumulator& lanes,
                          const std::byte* more, std::size_t elements) {
  if (first) {
    lanes.write(sum, more, elements, 1);
    return true;
  }
  if (job_.element == Element::kI32) {
    lanes.add(sum, more, elements, 1);
    return true;
  }
  std::memcpy(scratch_.at(0), sum, elements * sizeof(float));
  lanes.add(scratch_.at(0), more, elements, 1);
  if (!accumulator(Element::kF32).finite(scratch_.at(0), elements)) return false;
  std::memcpy(sum, scratch_.at(0), elements * sizeof(float));
  return true;
}

void Receiver::place_late(LiveRound& round, const Header& header, ByteView payload,
                          ContributorMask seen, ReceiverEvents& events) {
  const auto same = [&](const LateChunk& late) {
    return late.used && late.round == header.round && late.chunk == header.chunk;
  };
  auto found = std::find_if(late_.begin(), late_.end(), same);
  if (found != late_.end()) seen |= found->mask;
  const ContributorMask mask = header.mask;
  if ((mask & ~seen) == 0) return counters_.add(ReceiverCount::kDuplicates);
  if ((mask & seen) != 0) return counters_.add(ReceiverCount::kOverlaps);
  const bool first = found == late_.end();
  if (first) {
    found = std::find_if(late_.begin(), late_.end(), [](const auto& late) { return !late.used; });
    if (found == late_.end()) return counters_.add(ReceiverCount::kTooLate);
    *found = {true, header.round, header.chunk, 0};
  }
  std::byte* sum = late_sums_.at(std::size_t(found - late_.begin()) * stride_);
  if (first) std::memset(sum, 0, stride_);
  if (!payload.empty() && !add_finite(sum, false, accumulator_, payload.data(),
                                      payload.size() / bytes_of(job_.element)))
    return counters_.add(ReceiverCount::kNotFinite);
  counters_.add(ReceiverCount::kLate);
  found->mask |= mask;
  events.late_ready(round.round.spec.round, fragment_of(job_, header.chunk));
}

void Receiver::make_ready(Instant now, LiveRound& round, int fragment, ReceiverEvents& events) {
  if (round.fragments[fragment].state != FragmentState::kOpen || now < round.round.merge_at) return;
  if (round.round.spec.expected == 0) return;  // nothing to merge with
  // Others may be ahead of us: no merge before our own copy of the same fragment has left.
  if (!snapshots_.taken(round.round.spec.round, first_chunk(job_, fragment + 1) - 1)) return;
  round.fragments[fragment].state = FragmentState::kReady;
  --round.waiting;
  events.fragment_ready(round.round.spec.round, fragment);
}

std::size_t Receiver::note_absences(const LiveRound& round) {
  const RoundSpec& spec = round.round.spec;
  if (round.incomplete == 0) return 0;
  std::array<Absence, kCliqueMembersMax> all{};
  for (ChunkId chunk = 0; chunk < chunks_; ++chunk)
    for (ContributorMask left = spec.expected & ~round.masks[chunk]; left != 0; left &= left - 1) {
      Absence& absence = all[std::size_t(std::countr_zero(left))];
      if (absence.chunks++ == 0) absence.first_chunk = chunk;
    }
  std::size_t absent = 0;
  for (int bit = 0; bit < spec.members; ++bit)
    if (all[std::size_t(bit)].chunks > 0) {
      absences_[absent] = all[std::size_t(bit)];
      absences_[absent++].member = bit;
    }
  return absent;
}

void Receiver::on_time(Instant now, Outbox& out, ReceiverEvents& events) {
  now_ = now;
  for (LiveRound& round : rounds_) {
    if (!round.open) continue;
    for (; round.due < job_.fragments && fragment_deadline(round, round.due) <= now; ++round.due) {
      const Fragment& fragment = round.fragments[round.due];
      if (fragment.state == FragmentState::kOpen && fragment.incomplete > 0) ++round.waiting;
    }
    for (int f = 0; round.waiting > 0 && now >= round.round.merge_at && f < job_.fragments; ++f)
      if (f < round.due || round.fragments[f].incomplete == 0) make_ready(now, round, f, events);
    if (round.closed) continue;
    const Instant last =
        std::max(round.round.merge_at, round.round.spec.last_deadline + round.round.grace);
    if (last <= now || round.incomplete == 0) close(round, out, events);
  }
  if (any_round_) ask(now, out);
  if (heartbeat_at_ > now) return;
  announce(out);
  heartbeat_at_ = now + settings_.heartbeat;
}

Instant Receiver::next_deadline() const {
  Instant soonest = std::min(heartbeat_at_, gaps_.next_deadline());
  for (const LiveRound& round : rounds_) {
    if (!round.open) continue;
    if (round.due < job_.fragments)
      soonest = std::min(soonest, fragment_deadline(round, round.due));
    if (round.waiting > 0 && round.round.merge_at > now_)
      soonest = std::min(soonest, round.round.merge_at);
    if (!round.closed)
      soonest = std::min(soonest, std::max(round.round.merge_at,
                                           round.round.spec.last_deadline + round.round.grace));
  }
  return soonest;
}

Instant Receiver::last_placed(RoundId round) const {
  const LiveRound* found = live(round);
  return found == nullptr ? Instant{0} : found->last_placed;
}

std::span<const ContributorMask> Receiver::contributors(RoundId round) const {
  const LiveRound* found = live(round);
  if (found == nullptr) return {};
  return {found->masks, chunks_};
}

}  // namespace cotillion
