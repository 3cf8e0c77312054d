// What the fuzz targets of the protocol share: numbers from the fuzzer's bytes, packets that are
// right wherever the fuzzer does not say otherwise, and seals that both sides know.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "protocol/announcement.hpp"
#include "protocol/outbox.hpp"
#include "protocol/round_spec.hpp"
#include "protocol/seal.hpp"

namespace cotillion::fuzz {

// The fuzzer's bytes, in order; zeros when they are used up.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}

  [[nodiscard]] bool empty() const { return left_ == 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  std::uint32_t word() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8u | byte();
    return value;
  }
  int below(int limit) { return byte() % limit; }
  void fill(ByteSpan bytes) {
    for (std::byte& b : bytes) b = std::byte(byte());
  }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

inline Seal seal_of(bool authenticated, JobId job, SourceName name, BootId boot) {
  Key secret{};
  secret[0] = std::uint8_t(name);
  Seal seal = authenticated ? Seal(secret, job, name) : Seal();
  seal.set_boot(boot);
  return seal;
}

// What a byte of the input may spoil about a packet; all that it leaves alone is right.
enum Wrong : std::uint8_t {
  kRound = 1,
  kMeeting = 2,
  kContent = 4,
  kWeight = 8,
  kLength = 16,
  kMask = 32,
  kChunk = 64,
  kAll = 128,
};

// A packet of any type, not sealed yet: few bytes of input make one that is right for the round.
// Its contributors are those that come on one stream.
inline ByteSpan make_packet(Input& input, const JobSpec& job, const RoundSpec& round, int exponent,
                            ByteSpan room) {
  constexpr std::array<int, 16> kTypes = {1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9};
  const std::uint8_t first = input.byte(), second = input.byte(), which = input.byte();
  const std::uint8_t wrong = which < 192 ? 0 : input.byte();
  Header header;
  header.set_type(PacketType(kTypes[first & 0xfu]));
  header.job = job.id;
  header.round = round.round;
  header.chunk = (first >> 4u) % chunk_count(job);
  header.sequence = second;
  header.set_meeting(round.epoch, round.clique);
  const auto bit = unsigned(which) % unsigned(round.members);
  ContributorMask mask = ContributorMask(1) << bit;
  if (header.type() != PacketType::kData)
    for (unsigned other = 0; other < unsigned(round.members) && other < 8; ++other)
      if (round.source[other] == round.source[bit] && (second >> other & 1u) != 0)
        mask |= (ContributorMask(1) << other) & round.expected;
  header.mask = mask;
  const bool grid = job.element == Element::kI32;
  if (carries_sum(header.type())) {
    header.set_content(job.element, job.operation, grid ? exponent : 0);
    header.flags = std::uint8_t((grid ? flag::kGrid : 0) | (second == 7 ? flag::kZero : 0) |
                                (second == 9 ? flag::kResent : 0));
    header.weight = header.type() == PacketType::kData ? round.weight[bit] : weight_of(round, mask);
  } else {
    header.chunk = second;
    header.weight = first >> 4u;
  }
  std::size_t beats = carries_sum(header.type()) && !header.has(flag::kZero)
                          ? payload_bytes(job, header.chunk) / kBeatBytes
                          : 0;
  if (!carries_sum(header.type()) && header.type() != PacketType::kEnd) beats = 1;

  if ((wrong & kRound) != 0) header.round = header.round + input.byte() - 3;
  if ((wrong & kMeeting) != 0) header.epoch_clique = std::uint16_t(input.word());
  if ((wrong & kContent) != 0) {
    header.flags = input.byte();
    header.element_operation = input.byte();
    header.exponent_byte = input.byte();
  }
  if ((wrong & kWeight) != 0) header.weight = input.word();
  if ((wrong & kLength) != 0) beats = std::size_t(input.below(4));
  if ((wrong & kMask) != 0) header.mask = std::uint64_t(input.word()) << 32u | input.word();
  if ((wrong & kChunk) != 0) {
    header.chunk = input.word();
    header.sequence = input.word();
  }
  if ((wrong & kAll) != 0) input.fill(std::as_writable_bytes(std::span(&header, 1)));

  const ByteSpan packet = room.first(packet_bytes(beats * kBeatBytes));
  const std::uint8_t fill = input.byte();
  std::fill(packet.begin(), packet.end(), std::byte(fill));
  if (fill > 250) input.fill(packet.subspan(kHeaderBytes));
  write_header(header, packet);
  return packet;
}

// What becomes of its trailer.
enum class Fate : std::uint8_t { kSealed, kAsItCame, kFlipped, kTruncated };

// Seals, or spoils; says which. A packet that is not kSealed must change nothing.
inline Fate finish_packet(Input& input, Seal& seal, ByteSpan& packet) {
  const auto fate = Fate(input.below(8));
  if (fate > Fate::kTruncated || fate == Fate::kSealed) {
    seal.close(packet);
    return Fate::kSealed;
  }
  if (fate == Fate::kAsItCame) return seal.holds(packet) ? Fate::kSealed : fate;
  seal.close(packet);
  if (fate == Fate::kFlipped) {
    auto bit = std::size_t(input.word() % (packet.size() * 8));
    if (bit == offsetof(Header, flags) * 8) ++bit;  // RESENT is outside the seal
    packet[bit / 8] ^= std::byte(1u << (bit % 8));
    return fate;
  }
  packet = packet.first(input.word() % packet.size());
  return fate;
}

}  // namespace cotillion::fuzz
