#include "protocol/hop_sender.hpp"

#include <cstring>

#include "protocol/announcement.hpp"

namespace cotillion {

HopSender::HopSender(const AggregationSpec& spec, Seal own)
    : job_(spec.job),
      linger_(spec.linger),
      accumulator_(accumulator(spec.job.element)),
      own_(std::move(own)),
      store_(spec.resend_packets, stored_payload(spec), spec.resend),
      hop_(spec.last_hop, Bytes{std::int64_t(payload_bytes(spec.job))} + spec.framing),
      heartbeat_(spec.heartbeat, spec.insist),
      request_(spec.job.beats) {}

void HopSender::begin(const EdgeTurn& turn, const EdgeRound& round) {
  announce(PacketType::kHeartbeat, round, turn.out);
  heartbeat_.begin(turn.now);
}

void HopSender::end(const EdgeTurn& turn, const EdgeRound& round) {
  announce(PacketType::kEnd, round, turn.out);
  heartbeat_.insist(turn.now);
}

void HopSender::announce(PacketType type, const EdgeRound& round, Outbox& out) {
  Header header;
  header.set_type(type);
  header.job = job_.id;
  header.round = round.spec.round;
  header.chunk = store_.next();
  header.weight = round.first_sequence;
  header.mask = round.spec.expected;
  header.sequence = control_sequence_[std::size_t(type)]++;
  header.flags = round.flags;
  header.set_meeting(round.spec.epoch, round.spec.clique);
  Announcement room;
  out.send(Towards::kIsland, write_announcement(room, header, own_));
}

void HopSender::send(const EdgeTurn& turn, const EdgeRounds& rounds, const EdgeRound& round,
                     const LeavingSum& leaving) {
  Header header;
  header.set_type(leaving.type);
  header.flags = std::uint8_t(leaving.flags | (job_.element == Element::kI32 ? flag::kGrid : 0));
  header.job = job_.id;
  header.round = round.spec.round;
  header.chunk = leaving.chunk;
  header.sequence = store_.next();
  header.mask = leaving.mask;
  header.weight = leaving.weight;
  header.set_content(job_.element, job_.operation, leaving.exponent);
  header.set_meeting(round.spec.epoch, round.spec.clique);

  const bool zero = (leaving.flags & flag::kZero) != 0;
  const std::size_t bytes = zero ? 0 : payload_bytes(job_, leaving.chunk);
  const ByteSpan packet = store_.claim(turn.now, bytes);
  write_header(header, packet);
  if (bytes != 0 && leaving.sum != nullptr)
    accumulator_.emit(payload_of(packet).data(), leaving.sum, bytes / bytes_of(job_.element));
  else if (bytes != 0)
    std::memcpy(payload_of(packet).data(), leaving.payload.data(), bytes);
  own_.close(packet);
  turn.counters.add(EdgeCount::kOutputs);
  hop_.send_first(turn.now);
  turn.out.send(Towards::kIsland, packet);
  if (store_.anyone_in_line()) repeat_those_in_line(turn, rounds);
}

void HopSender::answer(const EdgeTurn& turn, const Header& request, ByteView bitmap) {
  request_.clear();
  const auto send_gone = [&] { this->send_gone(request, turn.out); };
  for_each_requested(request, bitmap, [&](std::uint32_t sequence) {
    if (std::int32_t(sequence - store_.next()) >= 0) return;  // not sent yet
    if (store_.just_resent(turn.now, sequence, linger_))
      return turn.counters.add(EdgeCount::kResendsSpared);
    if (store_.holds(sequence)) {
      if (!store_.anyone_in_line() && hop_.lets_repeats_go(turn.now))
        return repeat(turn, store_.fetch(turn.now, sequence));
      if (!store_.line_up(sequence)) turn.counters.add(EdgeCount::kResendsSpared);
      return;
    }
    turn.counters.add(EdgeCount::kGone);
    request_.add_or(sequence, send_gone);
  });
  if (!request_.empty()) send_gone();
}

void HopSender::send_gone(const Header& request, Outbox& out) {
  Header gone;
  gone.set_type(PacketType::kGone);
  gone.job = job_.id;
  gone.round = request.round;
  gone.epoch_clique = request.epoch_clique;
  gone.sequence = control_sequence_[std::size_t(PacketType::kGone)]++;
  const ByteSpan packet = request_.packet(gone);
  own_.close(packet);
  out.send(Towards::kIsland, packet);
  request_.clear();
}

void HopSender::repeat(const EdgeTurn& turn, ByteSpan kept) {
  kept[offsetof(Header, flags)] |= std::byte(flag::kResent);
  turn.counters.add(EdgeCount::kResends);
  hop_.send_again(turn.now);
  turn.out.send(Towards::kIsland, kept);
}

void HopSender::repeat_those_in_line(const EdgeTurn& turn, const EdgeRounds& rounds) {
  while (hop_.lets_repeats_go(turn.now)) {
    const auto next = store_.next_in_line();
    if (!next) return;
    const ByteSpan kept = store_.fetch(turn.now, *next);
    if (rounds.find(read_header(kept)->round) == nullptr) continue;  // nobody waits for it any more
    repeat(turn, kept);
  }
}

void HopSender::on_time(const EdgeTurn& turn, const EdgeRounds& rounds) {
  repeat_those_in_line(turn, rounds);
  if (heartbeat_.at() > turn.now) return;
  announce(PacketType::kHeartbeat, rounds.newest(), turn.out);
  // Silence once the island has said that it needs nothing more.
  if (rounds.all_acknowledged())
    heartbeat_.rest();
  else
    heartbeat_.go_on(turn.now);
}

void HopSender::flush(const EdgeTurn& turn, const EdgeRounds& rounds) {
  hop_ = LastHop({}, {});
  repeat_those_in_line(turn, rounds);
}

}  // namespace cotillion
