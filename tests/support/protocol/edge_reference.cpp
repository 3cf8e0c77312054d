#include "tests/support/protocol/edge_reference.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

namespace cotillion::testing {
namespace {

std::uint32_t bits_at(ByteView payload, Element element, std::size_t i) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, payload.data() + i * bytes_of(element), bytes_of(element));
  return element == Element::kBf16 ? bits << 16u : bits;
}

bool is_finite(ByteView payload, Element element) {
  if (element == Element::kI32) return true;
  for (std::size_t i = 0; i < payload.size() / bytes_of(element); ++i)
    if (!std::isfinite(std::bit_cast<float>(bits_at(payload, element, i)))) return false;
  return true;
}

}  // namespace

void ReferenceSum::start(ChunkKey its_key) {
  key = its_key;
  mask = 0;
  weight = 0;
  flags = 0;
  payloads = 0;
  scaled = false;
}

void ReferenceSum::add(const Header& header, ByteView payload, Element element,
                       std::uint32_t coefficient) {
  mask |= header.mask;
  weight += header.weight * coefficient;
  flags |= header.flags & flag::kInherited;
  if (payload.empty()) return;
  const std::size_t count = payload.size() / bytes_of(element);
  if (payloads++ == 0) {
    sum.assign(count, 0.0);
    magnitude.assign(count, 0.0);
    integers.assign(count, 0u);
    first.assign(payload.begin(), payload.end());
  }
  scaled |= coefficient != 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = bits_at(payload, element, i);
    if (element == Element::kI32) {
      integers[i] += bits * coefficient;
      continue;
    }
    const double value = double(std::bit_cast<float>(bits)) * coefficient;
    sum[i] += value;
    magnitude[i] += std::fabs(value);
  }
}

// What an edge may make of it. A coefficient and a product round once each, and every addition
// once: n payloads are within (n + 2) of half a unit in the last place of their magnitudes. The
// way out rounds bf16 once more, to 8 bits.
bool ReferenceSum::is(ByteView payload, Element element) const {
  if (payloads == 0) return payload.empty();
  if (payload.size() != first.size()) return false;
  if (payloads == 1 && !scaled) return std::memcmp(payload.data(), first.data(), first.size()) == 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const std::uint32_t bits = bits_at(payload, element, i);
    if (element == Element::kI32) {
      if (bits != integers[i]) return false;
      continue;
    }
    double bound = (payloads + 2) * 0x1p-24 * magnitude[i];
    if (element == Element::kBf16) bound += (std::fabs(sum[i]) + bound) * 0x1p-8 + 0x1p-133;
    if (magnitude[i] > 0.99 * double(FLT_MAX)) continue;
    if (!(std::fabs(double(std::bit_cast<float>(bits)) - sum[i]) <= bound)) return false;
  }
  return true;
}

int EdgeReference::exponent(ChunkId chunk) const {
  return spec_.job.element == Element::kI32 ? spec_.grid.exponent(chunk) : 0;
}

void EdgeReference::advance(Instant now) {
  for (auto& [number, round] : live_) expire(round, now);
}

void EdgeReference::expire(Round& round, Instant now) {
  for (; round.due < chunks_; ++round.due) {
    if (chunk_deadline(round.spec, spec_.job, round.due) > now) break;
    const ChunkKey key = ChunkKey(round.spec.round) * chunks_ + round.due;
    ReferenceSum& slot = slots_[key % slots_.size()];
    if (slot.mask == 0 || slot.key != key) continue;
    count(EdgeCount::kTimeouts);
    put_out(round, round.due, slot, false);
    slot.mask = 0;
  }
  if (round.due < chunks_ || round.ended) return;
  round.ended = true;
  ends_.push_back({round.spec.round, round.flags});
}

bool EdgeReference::open(const RoundSpec& spec) {
  if (any_round_ && spec.round <= newest_) return false;
  if (spec.members > spec_.members_max) return false;
  for (int bit = 0; bit < spec.members; ++bit)
    if ((spec.expected >> unsigned(bit) & 1) != 0 &&
        !seals_.sources.has(spec.source[std::size_t(bit)]))
      return false;
  for (auto old = live_.begin(); old != live_.end();) {
    if ((spec.round - old->first) % RoundId(spec_.live_rounds) != 0) {
      ++old;
      continue;
    }
    expire(old->second, kNever);
    leaving_.push_back(std::move(old->second));
    old = live_.erase(old);
  }
  Round round;
  round.spec = spec;
  round.accepted.resize(chunks_);
  round.out.resize(chunks_);
  if (spec.expected == 0) {
    round.ended = true;
    round.due = chunks_;
  }
  // Sums of a round that leaves go out first.
  round.first_sequence = next_ + std::uint32_t(sums_count_);
  live_.emplace(spec.round, std::move(round));
  newest_ = spec.round;
  any_round_ = true;
  return true;
}

void EdgeReference::take(Instant now, SourceId source, const Header& header, ByteView packet,
                         Trailer trailer) {
  ++in_;
  advance(now);
  if (header.type() == PacketType::kHeartbeat) return take_heartbeat(source, header, packet);
  if (source != kOwnIsland) return take_sum(now, source, header, packet, trailer);
  if (header.type() != PacketType::kNak && header.type() != PacketType::kAck)
    return count(EdgeCount::kUnexpected);
  if (!epoch_is_live(header.epoch())) return count(EdgeCount::kUnexpected);
  if (seals_.island.boot() == 0) return count(EdgeCount::kUnknownBoot);
  if (!seals_.island.holds(packet)) return count(EdgeCount::kForged);
  expect(trailer != Trailer::kBroken, "a broken request holds", header);
  ++taken_;
  take_request(now, header, packet);
}

bool EdgeReference::epoch_is_live(int epoch) const {
  return std::any_of(live_.begin(), live_.end(),
                     [&](const auto& entry) { return entry.second.spec.epoch == epoch; });
}

void EdgeReference::take_heartbeat(SourceId source, const Header& header, ByteView packet) {
  const bool stream = seals_.sources.has(source);
  if (!epoch_is_live(header.epoch()) || (source != kOwnIsland && (!stream || header.mask == 0)))
    return count(EdgeCount::kUnexpected);
  Seal& seal = source == kOwnIsland ? seals_.island : seals_.sources[source];
  Little64 boot;
  if (payload_of(packet).size() < sizeof boot) return count(EdgeCount::kForged);
  std::memcpy(&boot, payload_of(packet).data(), sizeof boot);
  const BootId before = seal.boot();
  seal.set_boot(boot);
  if (boot >= before && seal.holds(packet)) {
    ++taken_;
    return;
  }
  seal.set_boot(before);
  count(EdgeCount::kForged);
}

void EdgeReference::take_request(Instant now, const Header& header, ByteView packet) {
  const std::uint32_t end = next_ + std::uint32_t(sums_count_);  // deadlines came first
  if (header.type() == PacketType::kAck) {
    if (header.chunk <= end) acknowledged_ = std::max<std::uint32_t>(acknowledged_, header.chunk);
    return;
  }
  const std::uint32_t oldest =
      std::max(acknowledged_, end > store_.size() ? end - std::uint32_t(store_.size()) : 0);
  const ByteView bitmap = payload_of(packet);
  for (std::uint32_t i = 0; i < bitmap.size() * 8; ++i) {
    if ((bitmap[i / 8] >> (i % 8) & std::byte(1)) == std::byte(0)) continue;
    const std::uint32_t sequence = header.chunk + i;
    if (std::int32_t(sequence - end) >= 0) continue;  // not sent yet
    if (sequence >= end || sequence < oldest) {
      count(EdgeCount::kGone);
      gone_.push_back(sequence);
      continue;
    }
    Stored& stored = store_[sequence % store_.size()];
    if (sequence < next_ && stored.was_resent && now - stored.resent < spec_.linger) {
      count(EdgeCount::kResendsSpared);
      continue;
    }
    count(EdgeCount::kResends);
    resends_.push_back(sequence);
  }
}

bool EdgeReference::planned(const Round& round, SourceId source, const Header& header,
                            std::size_t payload) const {
  const JobSpec& job = spec_.job;
  const RoundSpec& spec = round.spec;
  const ContributorMask mask = header.mask;
  if (header.epoch() != spec.epoch || header.clique() != spec.clique || mask == 0) return false;
  std::uint64_t weight = 0;
  for (int bit = 0; bit < kCliqueMembersMax; ++bit) {
    if ((mask >> unsigned(bit) & 1) == 0) continue;
    if ((spec.expected >> unsigned(bit) & 1) == 0) return false;
    if (spec.source[std::size_t(bit)] != source) return false;
    weight += std::uint64_t(spec.weight[std::size_t(bit)]) *
              (header.type() == PacketType::kData ? 1 : spec.coefficient[std::size_t(bit)]);
  }
  if (header.type() == PacketType::kEnd) return true;
  if (!carries_sum(header.type()) || header.chunk >= chunks_) return false;
  if (header.type() == PacketType::kData && !std::has_single_bit(mask)) return false;
  if (header.weight != weight) return false;
  if (header.element() != job.element || header.operation() != job.operation) return false;
  if (header.has(flag::kGrid) != (job.element == Element::kI32)) return false;
  if (header.exponent() != exponent(header.chunk)) return false;
  return payload == (header.has(flag::kZero) ? 0 : payload_bytes(job, header.chunk));
}

void EdgeReference::take_sum(Instant now, SourceId source, const Header& header, ByteView packet,
                             Trailer trailer) {
  Round* round = round_of(header.round);
  const ByteView payload = payload_of(packet);
  if (round == nullptr) return count(EdgeCount::kStaleRound);
  if (!planned(*round, source, header, payload.size())) return count(EdgeCount::kUnexpected);
  Seal& seal = seals_.sources[source];
  if (seal.boot() == 0) return count(EdgeCount::kUnknownBoot);
  if (!seal.holds(packet)) return count(EdgeCount::kForged);
  expect(trailer != Trailer::kBroken, "a broken packet holds", header);
  if (spec_.rate_max.value > 0) {
    tokens_ = std::min(double(spec_.burst.count),
                       tokens_ + double((now - tokens_at_).ps) * 1e-12 * spec_.rate_max.value / 8);
    tokens_at_ = now;
    if (tokens_ < double(packet.size())) return count(EdgeCount::kOverRate);
    tokens_ -= double(packet.size());
  }
  if (!carries_sum(header.type())) {
    ++taken_;
    return;
  }
  if (is_finite(payload, spec_.job.element)) return merge(*round, header, payload);
  count(EdgeCount::kNotFinite);
  round->flags |= flag::kNanDropped;
  const ChunkKey key = ChunkKey(header.round) * chunks_ + header.chunk;
  ReferenceSum& slot = slots_[key % slots_.size()];
  if (slot.mask != 0 && slot.key == key) slot.flags |= flag::kNanDropped;
}

void EdgeReference::merge(Round& round, const Header& header, ByteView payload) {
  const ChunkId chunk = header.chunk;
  ContributorMask& seen = round.accepted[chunk];
  const ContributorMask mask = header.mask;
  if ((mask & ~seen) == 0) return count(EdgeCount::kDuplicates);
  if ((mask & seen) != 0) return count(EdgeCount::kOverlaps);
  count(EdgeCount::kAccepted);
  if (header.has(flag::kResent)) count(EdgeCount::kRepaired);
  seen |= mask;

  const ChunkKey key = ChunkKey(header.round) * chunks_ + chunk;
  ReferenceSum& slot = slots_[key % slots_.size()];
  const bool resident = slot.mask != 0 && slot.key == key;
  const bool late = chunk < round.due || (slot.mask != 0 && slot.key > key);
  const bool whole = seen == round.spec.expected;
  std::uint32_t coefficient = 1;
  if (header.type() == PacketType::kData)
    coefficient = round.spec.coefficient[std::size_t(std::countr_zero(mask))];
  if (late || (whole && !resident)) {
    passing_.start(key);
    passing_.add(header, payload, spec_.job.element, coefficient);
    if (late) count(EdgeCount::kLate);
    if (!late) count(mask == seen ? EdgeCount::kResults : EdgeCount::kCompletedPartials);
    return put_out(round, chunk, passing_, late);
  }
  if (slot.mask != 0 && !resident) {
    count(EdgeCount::kConflicts);
    put_out(*round_of(RoundId(slot.key / chunks_)), ChunkId(slot.key % chunks_), slot, false);
    slot.mask = 0;
  }
  if (!resident) slot.start(key);
  slot.add(header, payload, spec_.job.element, coefficient);
  if (!whole) return;
  count(slot.mask == seen ? EdgeCount::kResults : EdgeCount::kCompletedPartials);
  put_out(round, chunk, slot, false);
  slot.mask = 0;
}

void EdgeReference::put_out(Round& round, ChunkId chunk, const ReferenceSum& sum, bool late) {
  if (sums_count_ == sums_.size()) sums_.emplace_back();
  Foretold& foretold = sums_[sums_count_++];
  const bool result = sum.mask == round.spec.expected && !late;
  foretold.type = result ? PacketType::kResult : PacketType::kPartial;
  foretold.flags =
      std::uint8_t(sum.flags | (late ? flag::kLate : 0) | (sum.payloads == 0 ? flag::kZero : 0) |
                   (spec_.job.element == Element::kI32 ? flag::kGrid : 0));
  foretold.round = round.spec.round;
  foretold.chunk = chunk;
  foretold.sum = sum;
  count(EdgeCount::kOutputs);
  // Everyone was accepted, and only this sum had not gone out: what conflicts and deadlines put
  // out is never whole.
  if (round.accepted[chunk] != round.spec.expected) return;
  if (++round.complete < chunks_ || round.ended) return;
  round.ended = true;
  round.due = chunks_;
  ends_.push_back({round.spec.round, round.flags});
}

}  // namespace cotillion::testing
