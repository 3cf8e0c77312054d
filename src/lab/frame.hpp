// What the emulator must know of the IP packets that cross it: how long they are as the map counts,
// which stream they belong to, and how to spoil them so that they still arrive.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.hpp"
#include "protocol/address.hpp"
#include "protocol/packet.hpp"

namespace cotillion {

struct Frame {
  Ipv4Address source = 0, destination = 0;
  ByteSpan udp;  // the UDP payload; empty for anything else
};
// Nothing where it is no whole IPv4 packet.
[[nodiscard]] std::optional<Frame> read_frame(ByteSpan ip);

// Bytes on the wire. With framing, weights and framing; without, rates are goodput: weights alone,
// and what carries none takes no time. What is none of our packets counts whole.
[[nodiscard]] std::uint32_t wire_bytes(const Frame& frame, std::size_t ip_bytes, Bytes framing);

// Sent to everyone on a link and never passed on: no part of any stream.
[[nodiscard]] constexpr bool is_link_local(Ipv4Address address) {
  return address >> 8 == 0xe00000;
}

// Flips one bit of the datagram's content, or cuts off its end, and mends lengths and checksums, so
// that it is for the protocol and not for the kernel to notice. The new length of the packet.
std::size_t corrupt(ByteSpan ip, Random& random);
std::size_t truncate(ByteSpan ip, Random& random);

}  // namespace cotillion
