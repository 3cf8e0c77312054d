#include "protocol/keeper.hpp"

#include <algorithm>
#include <cstring>

#include "protocol/announcement.hpp"

namespace cotillion {

Keeper::Keeper(const JobSpec& job, KeeperSeals seals)
    : job_(job),
      seals_(std::move(seals)),
      chunks_(chunk_count(job)),
      stride_(whole_lines(packet_bytes(payload_bytes(job)))),
      length_(chunks_),
      bytes_(chunks_ * stride_),
      gone_(job.beats) {}

std::size_t Keeper::bytes(const JobSpec& job) {
  return chunk_count(job) *
             (whole_lines(packet_bytes(payload_bytes(job))) + sizeof(std::uint32_t)) +
         packet_bytes(payload_bytes(job));
}

void Keeper::open_round(RoundId round, int epoch, int clique, int bit) {
  open_ = true;
  round_ = round;
  epoch_ = epoch;
  clique_ = clique;
  mask_ = ContributorMask(1) << unsigned(bit);
  std::fill(length_.begin(), length_.end(), 0u);
}

bool Keeper::of_round(const Header& header) const {
  return open_ && header.job == job_.id && header.round == round_ && header.epoch() == epoch_ &&
         header.clique() == clique_ && header.mask == mask_;
}

void Keeper::on_stream(ByteView packet) {
  const auto header = read_header(packet);
  if (!header || !of_round(*header)) {
    ++counters_.unexpected;
    return;
  }
  if (header->type() == PacketType::kHeartbeat) {
    if (!believe(seals_.island, packet)) ++counters_.forged;
    return;
  }
  if (header->type() != PacketType::kData || header->chunk >= chunks_ || packet.size() > stride_)
    return;
  if (!seals_.island.holds(packet)) {
    ++counters_.forged;
    return;
  }
  if (length_[header->chunk] != 0) return;
  length_[header->chunk] = std::uint32_t(packet.size());
  std::byte* kept = bytes_.at(header->chunk * stride_);
  std::memcpy(kept, packet.data(), packet.size());
  kept[offsetof(Header, flags)] |= std::byte(flag::kResent);
  ++counters_.kept;
}

// Each learns the other's boot id, or it would take the other's packets for forged after a restart.
void Keeper::on_heartbeat(std::size_t from, const Header& header, ByteView packet, Outbox& out) {
  if (!believe(seals_.askers[from], packet)) {
    ++counters_.forged;
    return;
  }
  Header answer = header;
  answer.flags = 0;
  answer.chunk = answer.weight = 0;
  answer.mask = 0;  // not the sender
  answer.sequence = heartbeat_sequence_++;
  Announcement room;
  out.send(Towards::kSource, SourceId(from), write_announcement(room, answer, seals_.own));
}

void Keeper::on_request(std::size_t from, ByteView packet, Outbox& out) {
  const auto header = read_header(packet);
  if (header && header->type() == PacketType::kHeartbeat && from < seals_.askers.size() &&
      header->job == job_.id && open_ && header->epoch() == epoch_)
    return on_heartbeat(from, *header, packet, out);
  if (!header || header->type() != PacketType::kRepair || from >= seals_.askers.size() ||
      header->job != job_.id || !open_ || header->epoch() != epoch_) {
    ++counters_.unexpected;
    return;
  }
  if (!seals_.askers[from].holds(packet)) {
    ++counters_.forged;
    return;
  }
  const bool current = of_round(*header);
  gone_.clear();
  const auto send_gone = [&] {
    Header answer = *header;
    answer.set_type(PacketType::kGone);
    answer.flags = 0;
    answer.sequence = gone_sequence_++;
    const ByteSpan bytes = gone_.packet(answer);
    seals_.own.close(bytes);
    out.send(Towards::kSource, SourceId(from), bytes);
    gone_.clear();
  };
  for_each_requested(*header, payload_of(packet), [&](std::uint32_t chunk) {
    if (chunk >= chunks_) return;
    if (current && length_[chunk] != 0) {
      ++counters_.resent;
      out.send(Towards::kSource, SourceId(from), {bytes_.at(chunk * stride_), length_[chunk]});
      return;
    }
    ++counters_.gone;
    gone_.add_or(chunk, send_gone);
  });
  if (!gone_.empty()) send_gone();
}

}  // namespace cotillion
