// Packets on their way in a simulation. One packet may be on many lanes at once, as multicast
// copies it; the bytes are kept once and their room is used again. A header without payload, which
// is most of what a rehearsal sends, lies in one cache line with all that is to know about it.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "protocol/packet.hpp"

namespace cotillion {

using PacketId = std::uint32_t;

class PacketPool {
 public:
  // With one hold on it. On a lane it takes as long as `wire_bytes` do.
  [[nodiscard]] PacketId add(ByteView bytes, double wire_bytes) {
    if (free_.empty()) {
      free_.push_back(PacketId(packets_.size()));
      packets_.emplace_back();
      long_.emplace_back();
    }
    const PacketId id = free_.back();
    free_.pop_back();
    Packet& packet = packets_[id];
    packet.wire_bytes = wire_bytes;
    packet.holds = 1;
    packet.length = std::uint32_t(bytes.size());
    if (bytes.size() <= kShort)
      std::memcpy(packet.bytes.data(), bytes.data(), bytes.size());
    else
      long_[id].assign(bytes.begin(), bytes.end());
    return id;
  }
  void hold(PacketId id) { ++packets_[id].holds; }
  void drop(PacketId id) {
    COTILLION_CHECK(packets_[id].holds > 0);
    if (--packets_[id].holds == 0) free_.push_back(id);
  }
  // Valid while it is held and no other is added; long ones while they are held.
  [[nodiscard]] ByteView bytes(PacketId id) const {
    const Packet& packet = packets_[id];
    return packet.length <= kShort ? ByteView(packet.bytes.data(), packet.length)
                                   : ByteView(long_[id]);
  }
  [[nodiscard]] double wire_bytes(PacketId id) const { return packets_[id].wire_bytes; }
  void expect(PacketId id) const { __builtin_prefetch(&packets_[id]); }

 private:
  static constexpr std::size_t kShort = 48;
  struct alignas(64) Packet {
    std::array<std::byte, kShort> bytes;
    double wire_bytes = 0;
    std::uint32_t length = 0;
    std::uint32_t holds = 0;
  };
  static_assert(sizeof(Packet) == 64 && kShort >= packet_bytes(0));

  std::vector<Packet> packets_;
  std::vector<std::vector<std::byte>> long_;
  std::vector<PacketId> free_;
};

}  // namespace cotillion
