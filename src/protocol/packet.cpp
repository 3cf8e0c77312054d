#include "protocol/packet.hpp"

#include <cstring>

#include "base/check.hpp"

namespace cotillion {

std::optional<Header> read_header(ByteView packet) {
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

void write_header(const Header& header, ByteSpan packet) {
  COTILLION_CHECK(packet.size() >= kHeaderBytes);
  std::memcpy(packet.data(), &header, kHeaderBytes);
}

const char* name_of(PacketType type) {
  switch (type) {
    case PacketType::kData:
      return "DATA";
    case PacketType::kPartial:
      return "PARTIAL";
    case PacketType::kResult:
      return "RESULT";
    case PacketType::kRepair:
      return "REPAIR";
    case PacketType::kNak:
      return "NAK";
    case PacketType::kEnd:
      return "END";
    case PacketType::kHeartbeat:
      return "HEARTBEAT";
    case PacketType::kAck:
      return "ACK";
    case PacketType::kGone:
      return "GONE";
    case PacketType::kControl:
      return "CONTROL";
  }
  return "unknown";
}

const char* name_of(Element element) {
  switch (element) {
    case Element::kF32:
      return "f32";
    case Element::kBf16:
      return "bf16";
    case Element::kI32:
      return "i32";
  }
  return "unknown";
}

}  // namespace cotillion
