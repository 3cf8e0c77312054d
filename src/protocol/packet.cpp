#include "protocol/packet.hpp"

namespace cotillion {

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
