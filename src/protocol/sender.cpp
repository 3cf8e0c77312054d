#include "protocol/sender.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.hpp"
#include "protocol/announcement.hpp"

namespace cotillion {
namespace {

constexpr std::uint32_t kGreetings = 4;

}  // namespace

Instant planned_departure(const StreamSpec& stream, const SenderSettings& settings,
                          const JobSpec& job, ChunkId chunk) {
  const auto payload = Bytes{std::int64_t(payload_bytes(job))};
  const double chunk_ps = transfer_time(payload + settings.framing, stream.rate).ps;
  return stream.start + stream.offset + Duration{std::llround(chunk_ps * double(chunk))};
}

Sender::Sender(const SenderSettings& settings, Snapshots& snapshots, FragmentSource& source,
               Seal own)
    : settings_(settings),
      snapshots_(snapshots),
      source_(source),
      own_(std::move(own)),
      chunks_(chunk_count(snapshots.job())),
      values_(elements_per_chunk(snapshots.job())),
      packet_(packet_bytes(payload_bytes(snapshots.job()))) {
  COTILLION_CHECK(own_.boot() != 0);
  leaving_.next = leaving_.copied = chunks_;
}

void Sender::open_round(const StreamSpec& stream) {
  const Passage& newest = waits_ ? following_ : leaving_;
  COTILLION_CHECK(!open_ || stream.round > newest.spec.round);
  COTILLION_CHECK(stream.rate.value > 0 && stream.offset.ps >= 0);
  COTILLION_CHECK(!stream.follows || settings_.exchange == Exchange::kStreamed);
  Passage opened;
  if (open_) opened.base = newest.base + chunks_;
  opened.spec = stream;
  const auto payload = Bytes{std::int64_t(payload_bytes(snapshots_.job()))};
  opened.chunk_ps = transfer_time(payload + settings_.framing, stream.rate).ps;
  opened.heartbeat_at = stream.start;
  opened.due = opened.departure(0);
  if (waits_) leaving_ = following_;
  waits_ = open_ && stream.follows && leaving_.next < chunks_;
  (waits_ ? following_ : leaving_) = opened;
  open_ = true;
}

Instant Sender::Passage::departure(ChunkId chunk) const {
  return spec.start + spec.offset + slip + Duration{std::llround(chunk_ps * double(chunk))};
}

Instant Sender::departure(RoundId round, ChunkId chunk) const {
  if (waits_ && following_.spec.round == round) return following_.departure(chunk);
  return open_ && leaving_.spec.round == round ? leaving_.departure(chunk) : kNever;
}

Sender::NextCopy Sender::next_copy() const {
  if (!open_) return {};
  if (leaving_.copied < chunks_)
    return {settings_.exchange == Exchange::kWhole ? leaving_.spec.start
                                                   : leaving_.departure(leaving_.copied),
            leaving_.copied, leaving_.spec.round};
  if (waits_) return {following_.departure(0), 0, following_.spec.round};
  return {};
}

Instant Sender::deadline_of(const Passage& passage) const {
  if (!passage.started) return passage.spec.start;
  return passage.next < chunks_ ? std::min(passage.due, passage.heartbeat_at)
                                : passage.heartbeat_at;
}

Instant Sender::next_deadline() const {
  if (!open_) return kNever;
  const Instant soonest = deadline_of(leaving_);
  if (!waits_) return soonest;
  const Instant greets = following_.started ? following_.heartbeat_at : following_.spec.start;
  return std::min({soonest, greets, following_.due + settings_.catch_up});
}

void Sender::on_time(Instant now, Outbox& out) {
  if (!open_) return;
  const bool overdue = waits_ && now >= following_.due + settings_.catch_up;
  if (!overdue) {
    greet(leaving_, now, out);
    pass(leaving_, now, out);
  }
  if (!waits_) return;
  if (overdue || leaving_.next == chunks_) {
    leaving_ = following_;
    waits_ = false;
  }
  greet(waits_ ? following_ : leaving_, now, out);
  if (!waits_) pass(leaving_, now, out);
}

// Itself, and again when everything is out.
void Sender::greet(Passage& passage, Instant now, Outbox& out) {
  if (now < passage.spec.start) return;
  if (!passage.started) {
    passage.started = true;
    if (settings_.exchange == Exchange::kWhole) copy(passage, 0, chunks_);
  }
  if (passage.heartbeat_at > now) return;
  announce(PacketType::kHeartbeat, passage, out);
  if (passage.next == chunks_) announce(PacketType::kEnd, passage, out);  // the first may be lost
  // The first may be lost, and edges are deaf to strangers: introduce ourselves more than once.
  const bool stranger = control_sequence_[std::size_t(PacketType::kHeartbeat)] < kGreetings;
  passage.heartbeat_at = now + Duration{settings_.heartbeat.ps / (stranger ? 16 : 1)};
}

// What is due by now.
void Sender::pass(Passage& passage, Instant now, Outbox& out) {
  if (now < passage.spec.start) return;
  if (passage.next < chunks_ && passage.due <= now)
    counters_.late_ps =
        std::max(counters_.late_ps, std::uint64_t((now - passage.due + passage.slip).ps));
  if (passage.next < chunks_ && now - passage.due > settings_.catch_up) {
    const Duration slip = now - passage.due - settings_.catch_up;
    passage.slip = passage.slip + slip;
    passage.due = passage.departure(passage.next);
    counters_.slipped_ps += std::uint64_t(slip.ps);
  }
  const JobSpec& job = snapshots_.job();
  const RoundId round = passage.spec.round;
  for (; passage.next < chunks_ && passage.due <= now;
       passage.due = passage.departure(++passage.next)) {
    if (passage.copied <= passage.next) {
      const int fragment = fragment_of(job, passage.next);
      copy(passage, passage.next, first_chunk(job, fragment + 1));
    }
    const std::uint8_t flags = snapshots_.flags(round, passage.next);
    count(flags);
    if ((flags & flag::kNanDropped) == 0) {
      send_chunk(passage, passage.next, out);
      ++counters_.sent;
    }
    if (passage.next + 1 == chunks_) announce(PacketType::kEnd, passage, out);
  }
}

void Sender::copy(Passage& passage, ChunkId from, ChunkId to) {
  const JobSpec& job = snapshots_.job();
  const RoundId round = passage.spec.round;
  const Snapshots::Terms terms{passage.spec.weight, grid_limit(passage.spec.weight_sum)};
  passage.copied = to;
  while (from < to) {
    const int fragment = fragment_of(job, from);
    const ChunkId end = std::min(to, first_chunk(job, fragment + 1));
    if (source_.keep(round, fragment)) {
      snapshots_.take_kept(round, from, end, terms);
      from = end;
    }
    for (; from < end; ++from) {
      const std::span<float> values(values_.data(), elements_in(job, from));
      if (!snapshots_.counted()) source_.snapshot(round, first_element(job, from), values);
      snapshots_.take(round, from, values, terms);
    }
  }
}

void Sender::count(std::uint8_t flags) {
  counters_.clamped += (flags & flag::kClamped) != 0 ? 1 : 0;
  counters_.zero += (flags & flag::kZero) != 0 ? 1 : 0;
  counters_.withheld += (flags & flag::kNanDropped) != 0 ? 1 : 0;
}

Header Sender::header_of(PacketType type, const Passage& passage) {
  const StreamSpec& stream = passage.spec;
  speaks_for_ = stream.round;
  Header header;
  header.set_type(type);
  header.job = snapshots_.job().id;
  header.round = stream.round;
  header.mask = ContributorMask(1) << unsigned(stream.bit);
  header.weight = stream.weight;
  header.set_meeting(stream.epoch, stream.clique);
  return header;
}

void Sender::send_chunk(const Passage& passage, ChunkId chunk, Outbox& out) {
  const JobSpec& job = snapshots_.job();
  const RoundId round = passage.spec.round;
  const bool grid = job.element == Element::kI32;
  const std::uint8_t content = snapshots_.flags(round, chunk);
  Header header = header_of(PacketType::kData, passage);
  header.flags = std::uint8_t(content | (grid ? flag::kGrid : 0));
  header.chunk = chunk;
  header.sequence = passage.base + chunk;
  header.set_content(job.element, job.operation, grid ? snapshots_.grid().exponent(chunk) : 0);
  const ByteView payload =
      (content & flag::kZero) != 0 ? ByteView{} : snapshots_.chunk(round, chunk);
  const ByteSpan packet = ByteSpan(packet_).first(packet_bytes(payload.size()));
  write_header(header, packet);
  if (!payload.empty()) std::memcpy(payload_of(packet).data(), payload.data(), payload.size());
  own_.close(packet);
  out.send(Towards::kGroup, packet);
}

void Sender::announce(PacketType type, const Passage& passage, Outbox& out) {
  Header header = header_of(type, passage);
  header.chunk =
      passage.base + passage.next + (type == PacketType::kEnd && passage.next < chunks_ ? 1 : 0);
  header.weight = passage.base;
  header.sequence = control_sequence_[std::size_t(type)]++;
  Announcement room;
  out.send(Towards::kGroup, write_announcement(room, header, own_));
}

}  // namespace cotillion
