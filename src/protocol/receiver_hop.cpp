// What the receiver and its edge say to one another beside sums: who they are, how far they have
// come, what is asked for and what is needed no more.
#include <algorithm>

#include "protocol/announcement.hpp"
#include "protocol/receiver.hpp"

namespace cotillion {

Header Receiver::header_of(PacketType type) {
  Header header;
  header.set_type(type);
  header.job = job_.id;
  header.round = newest_;
  header.sequence = control_sequence_[std::size_t(type)]++;
  const LiveRound* round = live(newest_);
  header.set_meeting(round->round.spec.epoch, round->round.spec.clique);
  return header;
}

void Receiver::announce(Outbox& out) {
  Announcement room;
  out.send(Towards::kOwnEdge, write_announcement(room, header_of(PacketType::kHeartbeat), own_));
}

// An island that joins an edge in the middle of its life asks for nothing that was before it: from
// the round's first sequence if it is told, otherwise as if every chunk had gone out once, in
// order.
void Receiver::begin_hop(std::uint32_t sequence) {
  gaps_.reset(sequence);
  hop_known_ = true;
}

void Receiver::on_announcement(Instant now, LiveRound* round, const Header& header,
                               ByteView packet) {
  if (round == nullptr) return counters_.add(ReceiverCount::kStaleRound);
  if (!meets(*round, header)) return counters_.add(ReceiverCount::kUnexpected);
  const BootId before = edge_.boot();
  if (!believe(edge_, packet)) return counters_.add(ReceiverCount::kForged);
  heard_ = now;
  if (edge_.boot() != before) {  // what came earlier in this round was refused: ask for it
    if (before != 0) counters_.add(ReceiverCount::kRestarts);
    hop_known_ = false;
    answered_ = false;
    for (LiveRound& other : rounds_) other.first_known = other.end_known = other.seen_any = false;
  }
  if (!hop_known_) begin_hop(header.weight);
  round->first = header.weight;
  round->first_known = true;
  gaps_.expect(now, header.chunk);
}

void Receiver::close(LiveRound& round, Outbox& out, ReceiverEvents& events) {
  round.closed = true;
  const RoundSpec& spec = round.round.spec;
  const std::size_t absent = note_absences(round);
  // Nothing of this round is worth asking for any more; of the next one it may be.
  std::uint32_t done = gaps_.next();
  if (round.end_known)
    done = round.end;
  else if (spec.round != newest_)
    done = round.seen_any ? round.seen_to : round.first_known ? round.first : gaps_.oldest();
  for (const LiveRound& other : rounds_) {
    if (!other.open || other.round.spec.round <= spec.round) continue;
    const std::uint32_t first = other.first_known ? other.first : gaps_.oldest();
    if (std::int32_t(first - done) < 0) done = first;
  }
  if (std::int32_t(done - gaps_.next()) <= 0) gaps_.give_up_below(done);
  if (spec.expected != 0) {
    Header header = header_of(PacketType::kAck);
    header.round = spec.round;
    header.chunk = done;
    header.set_meeting(spec.epoch, spec.clique);
    Announcement room;
    out.send(Towards::kOwnEdge, write_announcement(room, header, own_));
  }
  events.round_closed(spec.round, std::span(absences_).first(absent));
}

void Receiver::ask(Instant now, Outbox& out) {
  if (gaps_.missing() == 0 || gaps_.next_deadline() > now) return;
  const auto send = [&] {
    const ByteSpan packet = request_.packet(header_of(PacketType::kNak));
    own_.close(packet);
    out.send(Towards::kOwnEdge, packet);
    request_.clear();
  };
  // Until the edge has answered once it may not know us, and would take this for forged.
  if (!answered_) announce(out);
  request_.clear();
  gaps_.due(now, [&](std::uint32_t sequence) {
    counters_.add(ReceiverCount::kAsked);
    request_.add_or(sequence, send);
  });
  if (!request_.empty()) send();
}

}  // namespace cotillion
