// The one packet layout: daemons, the simulator, the Wireshark dissector's tests and the hardware
// bench all read it from here. 32 bytes of header, a payload of whole 64-byte beats, an 8-byte
// trailer (seal.hpp). The header is complete in the second beat of an Ethernet frame, so that
// hardware decides what to do with a packet while the payload is still coming in.
// docs/understand/protocol.md describes every field and prints the golden packets that the tests
// check.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/check.hpp"
#include "base/ids.hpp"
#include "base/little_endian.hpp"
#include "protocol/edge_spec.hpp"

namespace cotillion {

using ByteView = std::span<const std::byte>;
using ByteSpan = std::span<std::byte>;
using JobId = std::uint16_t;  // 0 is reserved

inline constexpr int kProtocolVersion = 1;
inline constexpr std::uint16_t kUdpPort = 29'900;
inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::size_t kTrailerBytes = 8;
inline constexpr std::size_t kBeatBytes = 64;
inline constexpr int kBeatsMax = 1022;            // with header and trailer within a UDP datagram
inline constexpr ChunkId kChunksMax = 1u << 28u;  // a chunk has 28 bits in the tag's nonce
inline constexpr std::size_t kPacketBytesMax =
    kHeaderBytes + kBeatsMax * kBeatBytes + kTrailerBytes;
static_assert(kPacketBytesMax <= 65'507, "a packet is one UDP datagram");

// In those that carry no sum, `sequence` numbers the packets of their own kind, so that a tag's
// nonce is never used twice, and `chunk` is the operand named here.
enum class PacketType : std::uint8_t {
  kData = 1,  // one island's contribution to a chunk
  kPartial,   // the sum of some contributions
  kResult,    // the sum of all that were expected, nothing of this chunk went before
  kRepair,    // reserved (docs/decisions/0045): a bitmap of chunks, from this chunk on
  kNak,       // a receiver asks for a bitmap of packets of its hop, from this sequence on
  // In these two `weight` is the sequence of the round's first packet.
  kEnd,        // all of a round is out; the sequence after its last packet
  kHeartbeat,  // the boot id of a source; the sequence of its next packet
  kAck,        // a receiver is done with a round; the sequence below which it needs nothing
  kGone,       // a bitmap, as in the request, of what is no longer kept
  kControl,    // reserved (docs/decisions/0045)
};

namespace flag {
inline constexpr std::uint8_t kResent = 0x01;      // outside the seal: a resend repeats its bytes
inline constexpr std::uint8_t kZero = 0x02;        // the payload is all zeros and left out
inline constexpr std::uint8_t kClamped = 0x04;     // a sender had to clamp values to the grid
inline constexpr std::uint8_t kNanDropped = 0x08;  // an edge dropped a contribution for NaN
inline constexpr std::uint8_t kCongested = 0x10;   // a router marked congestion
inline constexpr std::uint8_t kLate = 0x20;        // came after its deadline, passed through
inline constexpr std::uint8_t kGrid = 0x40;        // integers on the grid of `exponent`
inline constexpr std::uint8_t kMac = 0x80;         // the trailer is an authentication tag
// What an output inherits from the contributions in it.
inline constexpr std::uint8_t kInherited = kClamped | kNanDropped | kCongested;
}  // namespace flag

enum class Element : std::uint8_t { kF32 = 1, kBf16 = 2, kI32 = 3 };
enum class Operation : std::uint8_t {
  kSum = 1,          // every weight is one
  kWeightedSum = 2,  // payloads come multiplied by their weight
};

// The wire itself. Fields of less than a byte have accessors; the rest read as integers.
struct Header {
  std::uint8_t version_type = 0;
  std::uint8_t flags = 0;
  Little16 job;
  Little32 round;
  Little32 chunk;
  Little32 sequence;  // of this hop: sender to group, or edge to island
  Little64 mask;      // contributors, as bits over the clique's sorted members
  Little32 weight;    // sum of the contributors' weights
  std::uint8_t element_operation = 0;
  std::uint8_t exponent_byte = 0;
  Little16 epoch_clique;

  [[nodiscard]] int version() const { return version_type >> 4; }
  [[nodiscard]] PacketType type() const { return PacketType(version_type & 0xf); }
  [[nodiscard]] Element element() const { return Element(element_operation >> 4); }
  [[nodiscard]] Operation operation() const { return Operation(element_operation & 0xf); }
  [[nodiscard]] int exponent() const { return std::int8_t(exponent_byte); }
  [[nodiscard]] int epoch() const { return epoch_clique >> 12; }
  [[nodiscard]] int clique() const { return epoch_clique & 0xfff; }
  [[nodiscard]] bool has(std::uint8_t which) const { return (flags & which) != 0; }

  void set_type(PacketType type) { version_type = std::uint8_t(kProtocolVersion << 4 | int(type)); }
  void set_content(Element element, Operation operation, int exponent) {
    element_operation = std::uint8_t(int(element) << 4 | int(operation));
    exponent_byte = std::uint8_t(exponent);
  }
  void set_meeting(int epoch, int clique) {
    epoch_clique = std::uint16_t((epoch & 0xf) << 12 | (clique & 0xfff));
  }
};
inline constexpr int kEpochs = 16;
inline constexpr int kCliquesMax = 4096;

static_assert(sizeof(Header) == kHeaderBytes && alignof(Header) == 1);
static_assert(offsetof(Header, version_type) == 0 && offsetof(Header, flags) == 1);
static_assert(offsetof(Header, job) == 2 && offsetof(Header, round) == 4);
static_assert(offsetof(Header, chunk) == 8 && offsetof(Header, sequence) == 12);
static_assert(offsetof(Header, mask) == 16 && offsetof(Header, weight) == 24);
static_assert(offsetof(Header, element_operation) == 28 && offsetof(Header, exponent_byte) == 29);
static_assert(offsetof(Header, epoch_clique) == 30);

// The bytes of a packet with that much payload.
[[nodiscard]] constexpr std::size_t packet_bytes(std::size_t payload) {
  return kHeaderBytes + payload + kTrailerBytes;
}

// The header of a packet that has a known version and type and whole beats of payload; nothing
// for anything else. What the fields mean for a job is not judged here.
[[nodiscard]] inline std::optional<Header> read_header(ByteView packet) {
  if (packet.size() < kHeaderBytes + kTrailerBytes || packet.size() > kPacketBytesMax ||
      (packet.size() - kHeaderBytes - kTrailerBytes) % kBeatBytes != 0)
    return std::nullopt;
  Header header;
  std::memcpy(&header, packet.data(), kHeaderBytes);
  if (header.version() != kProtocolVersion || header.type() < PacketType::kData ||
      header.type() > PacketType::kControl)
    return std::nullopt;
  return header;
}
inline void write_header(const Header& header, ByteSpan packet) {
  COTILLION_CHECK(packet.size() >= kHeaderBytes);
  std::memcpy(packet.data(), &header, kHeaderBytes);
}

[[nodiscard]] inline ByteView payload_of(ByteView packet) {
  return packet.subspan(kHeaderBytes, packet.size() - kHeaderBytes - kTrailerBytes);
}
[[nodiscard]] inline ByteSpan payload_of(ByteSpan packet) {
  return packet.subspan(kHeaderBytes, packet.size() - kHeaderBytes - kTrailerBytes);
}

// Whether the packet carries contributions: these share the merge rule.
[[nodiscard]] constexpr bool carries_sum(PacketType type) {
  return type == PacketType::kData || type == PacketType::kPartial || type == PacketType::kResult;
}

[[nodiscard]] const char* name_of(PacketType type);  // "DATA"
[[nodiscard]] const char* name_of(Element element);  // "bf16"

}  // namespace cotillion
