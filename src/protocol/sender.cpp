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
      next_(chunks_),
      copied_(chunks_),
      values_(elements_per_chunk(snapshots.job())),
      packet_(packet_bytes(payload_bytes(snapshots.job()))) {
  COTILLION_CHECK(own_.boot() != 0);
}

void Sender::open_round(const StreamSpec& stream) {
  COTILLION_CHECK(!open_ || stream.round > stream_.round);
  COTILLION_CHECK(stream.rate.value > 0 && stream.offset.ps >= 0);
  if (open_) base_ += chunks_;
  stream_ = stream;
  open_ = true;
  started_ = false;
  slip_ = {0};
  next_ = copied_ = 0;
  const auto payload = Bytes{std::int64_t(payload_bytes(snapshots_.job()))};
  chunk_ps_ = transfer_time(payload + settings_.framing, stream.rate).ps;
  heartbeat_at_ = stream.start;
  due_ = departure(0);
}

Instant Sender::departure(ChunkId chunk) const {
  return stream_.start + stream_.offset + slip_ + Duration{std::llround(chunk_ps_ * double(chunk))};
}

Sender::NextCopy Sender::next_copy() const {
  if (!open_ || copied_ >= chunks_) return {};
  return {settings_.exchange == Exchange::kWhole ? stream_.start : departure(copied_), copied_};
}

Instant Sender::next_deadline() const {
  if (!open_) return kNever;
  if (!started_) return stream_.start;
  return next_ < chunks_ ? std::min(due_, heartbeat_at_) : heartbeat_at_;
}

void Sender::on_time(Instant now, Outbox& out) {
  if (!open_ || now < stream_.start) return;
  if (!started_) {
    started_ = true;
    if (settings_.exchange == Exchange::kWhole) copy(stream_.round, 0, chunks_);
  }
  if (heartbeat_at_ <= now) {
    announce(PacketType::kHeartbeat, out);
    if (all_sent()) announce(PacketType::kEnd, out);  // again: the first may be lost
    // The first may be lost, and edges are deaf to strangers: introduce ourselves more than once.
    const bool stranger = control_sequence_[std::size_t(PacketType::kHeartbeat)] < kGreetings;
    heartbeat_at_ = now + Duration{settings_.heartbeat.ps / (stranger ? 16 : 1)};
  }
  if (next_ < chunks_ && due_ <= now)
    counters_.late_ps = std::max(counters_.late_ps, std::uint64_t((now - due_ + slip_).ps));
  if (next_ < chunks_ && now - due_ > settings_.catch_up) {
    const Duration slip = now - due_ - settings_.catch_up;
    slip_ = slip_ + slip;
    due_ = departure(next_);
    counters_.slipped_ps += std::uint64_t(slip.ps);
  }
  const JobSpec& job = snapshots_.job();
  for (; next_ < chunks_ && due_ <= now; due_ = departure(++next_)) {
    if (copied_ <= next_) {
      const int fragment = fragment_of(job, next_);
      copy(stream_.round, next_, first_chunk(job, fragment + 1));
    }
    const std::uint8_t flags = snapshots_.flags(stream_.round, next_);
    count(flags);
    if ((flags & flag::kNanDropped) == 0) {
      send_chunk(next_, out);
      ++counters_.sent;
    }
    if (next_ + 1 == chunks_) announce(PacketType::kEnd, out);
  }
}

void Sender::copy(RoundId round, ChunkId from, ChunkId to) {
  const JobSpec& job = snapshots_.job();
  const Snapshots::Terms terms{stream_.weight, grid_limit(stream_.weight_sum)};
  copied_ = to;
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

Header Sender::header_of(PacketType type) const {
  Header header;
  header.set_type(type);
  header.job = snapshots_.job().id;
  header.round = stream_.round;
  header.mask = ContributorMask(1) << unsigned(stream_.bit);
  header.weight = stream_.weight;
  header.set_meeting(stream_.epoch, stream_.clique);
  return header;
}

void Sender::send_chunk(ChunkId chunk, Outbox& out) {
  const JobSpec& job = snapshots_.job();
  const bool grid = job.element == Element::kI32;
  const std::uint8_t content = snapshots_.flags(stream_.round, chunk);
  Header header = header_of(PacketType::kData);
  header.flags = std::uint8_t(content | (grid ? flag::kGrid : 0));
  header.chunk = chunk;
  header.sequence = base_ + chunk;
  header.set_content(job.element, job.operation, grid ? snapshots_.grid().exponent(chunk) : 0);
  const ByteView payload =
      (content & flag::kZero) != 0 ? ByteView{} : snapshots_.chunk(stream_.round, chunk);
  const ByteSpan packet = ByteSpan(packet_).first(packet_bytes(payload.size()));
  write_header(header, packet);
  if (!payload.empty()) std::memcpy(payload_of(packet).data(), payload.data(), payload.size());
  own_.close(packet);
  out.send(Towards::kGroup, packet);
}

void Sender::announce(PacketType type, Outbox& out) {
  Header header = header_of(type);
  header.chunk = base_ + next_ + (type == PacketType::kEnd && next_ < chunks_ ? 1 : 0);
  header.weight = base_;
  header.sequence = control_sequence_[std::size_t(type)]++;
  Announcement room;
  out.send(Towards::kGroup, write_announcement(room, header, own_));
}

}  // namespace cotillion
