#include "protocol/golden_packets.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>

#include "base/check.hpp"

namespace cotillion {
namespace {

using Payload = std::vector<std::byte>;

// What all of them have in common unless they say otherwise.
Header header_of(PacketType type, ChunkId chunk, std::uint32_t sequence) {
  Header header;
  header.set_type(type);
  header.job = 1;
  header.round = 7;
  header.chunk = chunk;
  header.sequence = sequence;
  header.set_meeting(2, 5);
  return header;
}

Header sum_of(PacketType type, ChunkId chunk, std::uint32_t sequence,
              std::initializer_list<unsigned> contributors, std::uint8_t flags = 0) {
  Header header = header_of(type, chunk, sequence);
  std::uint64_t mask = 0;
  for (const unsigned bit : contributors) mask |= std::uint64_t(1) << bit;
  header.mask = mask;
  header.weight = std::uint32_t(contributors.size());
  header.flags = flags;
  header.set_content(Element::kF32, Operation::kSum, 0);
  return header;
}

// Of member 3, whose round begins with sequence 1000.
Header data_of(ChunkId chunk, std::uint8_t flags = 0) {
  return sum_of(PacketType::kData, chunk, 1000 + chunk, {3}, flags);
}

Header announcement_of(PacketType type, std::uint32_t next, std::uint32_t sequence) {
  Header header = header_of(type, next, sequence);
  header.mask = std::uint64_t(1) << 3;
  header.weight = 1000;
  return header;
}

template <class Wire, class ValueOf>
Payload payload(std::size_t beats, ValueOf value_of) {
  Payload bytes(beats * kBeatBytes);
  for (std::size_t i = 0; i < bytes.size() / sizeof(Wire); ++i) {
    const Wire wire = value_of(int(i));
    std::memcpy(bytes.data() + i * sizeof(Wire), &wire, sizeof wire);
  }
  return bytes;
}

// All of these are exact in f32.
Payload floats(std::size_t beats, float first, float step) {
  return payload<Little32>(
      beats, [&](int i) { return std::bit_cast<std::uint32_t>(first + step * float(i)); });
}

// The upper half of an f32; the values here need no rounding.
Payload short_floats(float first, float step) {
  return payload<Little16>(1, [&](int i) {
    return std::uint16_t(std::bit_cast<std::uint32_t>(first + step * float(i)) >> 16);
  });
}

// Two values that had to be clamped to ±⌊(2³¹−1)/8⌋, then small ones of both signs.
Payload integers() {
  constexpr std::int32_t limit = INT32_MAX / 8;
  return payload<Little32>(1, [&](int i) {
    return std::uint32_t(i == 0 ? limit : i == 1 ? -limit : (i - 8) * 1000);
  });
}

Payload bitmap(std::initializer_list<std::size_t> bits) {
  Payload bytes(kBeatBytes);
  for (const std::size_t bit : bits) bytes[bit / 8] |= std::byte(1u << (bit % 8));
  return bytes;
}

Payload boot_id() {
  return payload<Little64>(1, [](int i) { return i == 0 ? kGoldenBoot : 0; });
}

// Exponent −20 from chunk 0 on, −18 from chunk 1024 on.
Payload grid_change() {
  constexpr std::uint32_t words[] = {0, std::uint8_t(-20), 1024, std::uint8_t(-18)};
  return payload<Little32>(1, [&](int i) { return i < 4 ? words[i] : 0; });
}

Payload packet(const Header& header, const Payload& content, Seal seal = Seal()) {
  Payload bytes(packet_bytes(content.size()));
  write_header(header, bytes);
  if (!content.empty()) std::memcpy(bytes.data() + kHeaderBytes, content.data(), content.size());
  seal.set_boot(kGoldenBoot);
  seal.close(bytes);
  return bytes;
}

Payload weighted_short_floats() {
  Header header = data_of(42);
  header.job = 2;
  header.weight = 3;
  header.set_content(Element::kBf16, Operation::kWeightedSum, 0);
  return packet(header, short_floats(3, 3));
}

Payload clamped_integers() {
  Header header = data_of(42, flag::kGrid | flag::kClamped);
  header.job = 3;
  header.set_content(Element::kI32, Operation::kSum, -20);
  return packet(header, integers());
}

Payload repair() {
  Header header = header_of(PacketType::kRepair, 42, 2);
  header.mask = std::uint64_t(1) << 3;
  return packet(header, bitmap({0, 1, 5, 300}));
}

Payload control() {
  Header header = header_of(PacketType::kControl, 2, 1);
  header.job = 3;
  header.round = 12;
  return packet(header, grid_change());
}

Payload tagged() {
  return packet(data_of(42), floats(1, -2, 0.25f), Seal(kGoldenSecret, 1, kGoldenSource));
}

Payload resent(Payload bytes) {
  bytes[offsetof(Header, flags)] |= std::byte(flag::kResent);
  return bytes;
}

}  // namespace

std::vector<GoldenPacket> golden_packets() {
  using enum PacketType;
  const std::uint8_t troubled = flag::kNanDropped | flag::kCongested;
  return {
      {"data-f32", packet(data_of(42), floats(1, -2, 0.25f))},
      {"data-zero", packet(data_of(43, flag::kZero), {})},
      {"data-bf16", weighted_short_floats()},
      {"data-grid", clamped_integers()},
      {"partial", packet(sum_of(kPartial, 42, 500, {0, 3, 63}, troubled), floats(1, 0.5f, 0.5f))},
      {"partial-late", packet(sum_of(kPartial, 42, 501, {4}, flag::kLate), floats(1, 8, -1))},
      {"result", packet(sum_of(kResult, 44, 502, {0, 1, 2, 4, 5, 6, 7}), floats(2, -7, 0.4375f))},
      {"repair", repair()},
      {"nak", packet(header_of(kNak, 500, 4), bitmap({0, 7, 8, 511}))},
      {"end", packet(announcement_of(kEnd, 1096, 6), {})},
      {"heartbeat", packet(announcement_of(kHeartbeat, 1044, 31), boot_id())},
      {"ack", packet(header_of(kAck, 596, 5), {})},
      {"gone", packet(header_of(kGone, 507, 1), bitmap({0, 1}))},
      {"control", control()},
      {"data-mac", tagged()},
      {"data-mac-resent", resent(tagged())},
  };
}

GoldenPacket golden_packet(std::string_view name) {
  std::vector<GoldenPacket> packets = golden_packets();
  const auto found = std::find_if(packets.begin(), packets.end(),
                                  [&](const GoldenPacket& packet) { return packet.name == name; });
  COTILLION_CHECK(found != packets.end());
  return std::move(*found);
}

}  // namespace cotillion
