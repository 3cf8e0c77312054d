#include "protocol/announcement.hpp"

#include <cstring>

namespace cotillion {

ByteSpan write_announcement(Announcement& room, const Header& header, Seal& seal) {
  const bool heartbeat = header.type() == PacketType::kHeartbeat;
  room.fill(std::byte(0));
  const ByteSpan packet = ByteSpan(room).first(packet_bytes(heartbeat ? kBeatBytes : 0));
  write_header(header, packet);
  if (heartbeat) {
    const Little64 boot = seal.boot();
    std::memcpy(payload_of(packet).data(), &boot, sizeof boot);
  }
  seal.close(packet);
  return packet;
}

std::optional<BootId> boot_in(ByteView heartbeat) {
  Little64 boot;
  if (payload_of(heartbeat).size() < sizeof boot) return std::nullopt;
  std::memcpy(&boot, payload_of(heartbeat).data(), sizeof boot);
  return boot;
}

bool believe(Seal& seal, ByteView heartbeat) {
  const auto boot = boot_in(heartbeat);
  if (!boot || *boot == 0) return false;
  return *boot == seal.boot() ? seal.holds(heartbeat) : seal.adopt(heartbeat, *boot);
}

}  // namespace cotillion
