// Repair before aggregation: off unless asked for, as the paper advises. A contribution that one
// stream skipped is asked for from the sender's own edge, which keeps the round (keeper.hpp).
// Nothing is asked for from a stream that carries sums: nobody keeps its contributions apart.
#include <algorithm>

#include "protocol/aggregation.hpp"

namespace cotillion {

GapTracker* Aggregation::gaps_of(const LiveRound& round, int bit) {
  if (gaps_.empty()) return nullptr;
  const auto row = std::size_t(&round - rounds_.data());
  return &gaps_[row * std::size_t(spec_.members_max) + std::size_t(bit)];
}

void Aggregation::watch(Instant now, LiveRound& round, const Header& header) {
  const int bit = std::countr_zero(ContributorMask(header.mask));
  GapTracker* gaps = gaps_of(round, bit);
  if (gaps == nullptr || (round.spec.chained >> unsigned(bit) & 1) != 0 ||
      !std::has_single_bit(round.together[std::size_t(bit)]))
    return;
  if (header.type() == PacketType::kEnd)
    gaps->expect(now, chunks_);
  else if (header.type() == PacketType::kData && header.has(flag::kResent))
    gaps->answer(now, header.chunk);
  else if (header.type() == PacketType::kData)
    gaps->arrive(now, header.chunk);
  gaps_due_ = std::min(gaps_due_, gaps->next_deadline());
  due_ = std::min(due_, gaps_due_);
}

void Aggregation::on_gone(LiveRound& round, SourceId source, const Header& header,
                          ByteView packet) {
  if (std::size_t(source) >= seals_.keepers.size()) return counters_.add(EdgeCount::kUnexpected);
  Seal& keeper = seals_.keepers[std::size_t(source)];
  if (keeper.boot() == 0) return counters_.add(EdgeCount::kUnknownBoot);
  if (!keeper.holds(packet)) return counters_.add(EdgeCount::kForged);
  GapTracker* gaps = gaps_of(round, std::countr_zero(ContributorMask(header.mask)));
  if (gaps == nullptr) return;
  for_each_requested(header, payload_of(packet),
                     [&](std::uint32_t chunk) { gaps->give_up(chunk); });
}

void Aggregation::ask(Instant now, LiveRound& round, Outbox& out) {
  for (int bit = 0; bit < round.spec.members; ++bit) {
    GapTracker* gaps = gaps_of(round, bit);
    if (gaps->next_deadline() > now) continue;
    Header header;
    header.set_type(PacketType::kRepair);
    header.job = spec_.job.id;
    header.round = round.spec.round;
    header.mask = ContributorMask(1) << unsigned(bit);
    header.set_meeting(round.spec.epoch, round.spec.clique);
    const auto send = [&] {
      header.sequence = control_sequence_[std::size_t(PacketType::kRepair)]++;
      const ByteSpan packet = request_.packet(header);
      seals_.own.close(packet);
      out.send(Towards::kSource, round.spec.source[std::size_t(bit)], packet);
      request_.clear();
    };
    // The keeper learns our boot id from this, and answers with its own.
    announce(PacketType::kHeartbeat, round, Towards::kSource, round.spec.source[std::size_t(bit)],
             out);
    request_.clear();
    gaps->due(now, [&](std::uint32_t chunk) {
      if (chunk < round.due) return;  // past its deadline: it could only pass through
      counters_.add(EdgeCount::kRepairsAsked);
      request_.add_or(chunk, send);
    });
    if (!request_.empty()) send();
  }
}

}  // namespace cotillion
