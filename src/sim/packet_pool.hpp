// Packets with a payload, on their way in a simulation. One packet may be on many lanes at once, as
// multicast copies it; the bytes are kept once and their room is used again.
#pragma once

#include <vector>

#include "base/check.hpp"
#include "protocol/packet.hpp"

namespace cotillion {

using PacketId = std::uint32_t;

class PacketPool {
 public:
  // With one hold on it.
  [[nodiscard]] PacketId add(ByteView bytes) {
    if (free_.empty()) {
      free_.push_back(PacketId(packets_.size()));
      packets_.emplace_back();
    }
    const PacketId id = free_.back();
    free_.pop_back();
    packets_[id].holds = 1;
    packets_[id].bytes.assign(bytes.begin(), bytes.end());
    return id;
  }
  void hold(PacketId id) { ++packets_[id].holds; }
  void drop(PacketId id) {
    COTILLION_CHECK(packets_[id].holds > 0);
    if (--packets_[id].holds == 0) free_.push_back(id);
  }
  // Valid while it is held; others may be added meanwhile.
  [[nodiscard]] ByteView bytes(PacketId id) const { return packets_[id].bytes; }

 private:
  struct Packet {
    std::vector<std::byte> bytes;
    int holds = 0;
  };
  std::vector<Packet> packets_;
  std::vector<PacketId> free_;
};

}  // namespace cotillion
