#include "protocol/hop_receiver.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "protocol/announcement.hpp"

namespace cotillion {

HopReceiver::HopReceiver(const JobSpec& job, const GapSettings& gaps, Duration heartbeat, Seal own,
                         Seal edge)
    : job_(job.id),
      heartbeat_(heartbeat),
      own_(std::move(own)),
      edge_(std::move(edge)),
      gaps_(gaps),
      request_(job.beats) {
  COTILLION_CHECK(own_.boot() != 0);
}

void HopReceiver::begin(const HopTurn& turn, const ReceivedRounds& rounds) {
  announce(rounds, turn.out);
  heartbeat_at_ = turn.now + heartbeat_;
}

Header HopReceiver::header_of(PacketType type, const RoundSpec& round) {
  Header header;
  header.set_type(type);
  header.job = job_;
  header.round = round.round;
  header.sequence = control_sequence_[std::size_t(type)]++;
  header.set_meeting(round.epoch, round.clique);
  return header;
}

void HopReceiver::announce(const ReceivedRounds& rounds, Outbox& out) {
  const RoundSpec& newest = rounds.find(rounds.newest())->spec();
  Announcement room;
  out.send(Towards::kOwnEdge,
           write_announcement(room, header_of(PacketType::kHeartbeat, newest), own_));
}

// An island that joins an edge in the middle of its life asks for nothing that was before it: from
// the round's first sequence if it is told, otherwise as if every chunk had gone out once, in
// order.
void HopReceiver::begin_at(std::uint32_t sequence) {
  gaps_.reset(sequence);
  begun_ = true;
}

bool HopReceiver::hear_heartbeat(const HopTurn& turn, ReceivedRounds& rounds, ReceivedRound& round,
                                 const Header& header, ByteView packet) {
  const BootId before = edge_.boot();
  if (!believe(edge_, packet)) return false;
  heard_ = turn.now;
  if (edge_.boot() != before) {  // what came earlier in this round was refused: ask for it
    if (before != 0) turn.counters.add(ReceiverCount::kRestarts);
    begun_ = false;
    answered_ = false;
    for (ReceivedRound& other : rounds.all()) other.sequences = {};
  }
  if (!begun_) begin_at(header.weight);
  round.sequences.announce(header.weight);
  gaps_.expect(turn.now, header.chunk);
  return true;
}

bool HopReceiver::holds(const HopTurn& turn, const Header& header, ByteView packet) {
  if (edge_.boot() == 0) {
    turn.counters.add(ReceiverCount::kUnknownBoot);
    return false;
  }
  if (!edge_.holds(packet)) {
    turn.counters.add(ReceiverCount::kForged);
    return false;
  }
  heard_ = turn.now;
  const bool sum = carries_sum(header.type());
  if (!begun_ && (sum || header.type() == PacketType::kEnd))
    begin_at(sum ? header.sequence - std::min<std::uint32_t>(header.chunk, header.sequence)
                 : std::uint32_t(header.weight));
  // It has come, whatever becomes of it: nothing to ask for again.
  if (sum && header.has(flag::kResent))
    gaps_.answer(turn.now, header.sequence);
  else if (sum)
    gaps_.arrive(turn.now, header.sequence);
  return true;
}

void HopReceiver::on_end(Instant now, ReceivedRound& round, const Header& header) {
  round.sequences.announce(header.weight);
  round.sequences.finish(header.chunk);
  gaps_.expect(now, header.chunk);
}

void HopReceiver::on_gone(const HopTurn& turn, const Header& header, ByteView bitmap) {
  for_each_requested(header, bitmap, [&](std::uint32_t sequence) {
    turn.counters.add(ReceiverCount::kGone);
    gaps_.give_up(sequence);
  });
  answered_ = true;
}

void HopReceiver::on_sum(ReceivedRound& round, const Header& header) {
  if (header.has(flag::kResent)) answered_ = true;
  round.sequences.see(header.sequence);
}

void HopReceiver::ask(const HopTurn& turn, const ReceivedRounds& rounds) {
  if (gaps_.missing() == 0 || gaps_.next_deadline() > turn.now) return;
  const auto send = [&] {
    const RoundSpec& newest = rounds.find(rounds.newest())->spec();
    const ByteSpan packet = request_.packet(header_of(PacketType::kNak, newest));
    own_.close(packet);
    turn.out.send(Towards::kOwnEdge, packet);
    request_.clear();
  };
  // Until the edge has answered once it may not know us, and would take this for forged.
  if (!answered_) announce(rounds, turn.out);
  request_.clear();
  gaps_.due(turn.now, [&](std::uint32_t sequence) {
    turn.counters.add(ReceiverCount::kAsked);
    request_.add_or(sequence, send);
  });
  if (!request_.empty()) send();
}

void HopReceiver::on_time(const HopTurn& turn, const ReceivedRounds& rounds) {
  if (rounds.any()) ask(turn, rounds);
  if (heartbeat_at_ > turn.now) return;
  announce(rounds, turn.out);
  heartbeat_at_ = turn.now + heartbeat_;
}

// Nothing of this round is worth asking for any more; of the next one it may be.
std::uint32_t HopReceiver::needless_below(const ReceivedRounds& rounds,
                                          const ReceivedRound& round) const {
  const RoundSequences& known = round.sequences;
  std::uint32_t done = gaps_.next();
  if (known.end_known)
    done = known.end;
  else if (round.spec().round != rounds.newest())
    done = known.seen_any ? known.seen_to : known.first_known ? known.first : gaps_.oldest();
  for (const ReceivedRound& other : rounds.all()) {
    if (!other.open || other.spec().round <= round.spec().round) continue;
    const std::uint32_t first =
        other.sequences.first_known ? other.sequences.first : gaps_.oldest();
    if (std::int32_t(first - done) < 0) done = first;
  }
  return done;
}

void HopReceiver::close(const ReceivedRounds& rounds, const ReceivedRound& round, Outbox& out) {
  const std::uint32_t done = needless_below(rounds, round);
  if (std::int32_t(done - gaps_.next()) <= 0) gaps_.give_up_below(done);
  if (round.spec().expected == 0) return;
  Header header = header_of(PacketType::kAck, round.spec());
  header.chunk = done;
  Announcement room;
  out.send(Towards::kOwnEdge, write_announcement(room, header, own_));
}

}  // namespace cotillion
