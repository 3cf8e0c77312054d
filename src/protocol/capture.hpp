// Packets that never were on a wire, as a capture file that Wireshark reads (with
// tools/cotillion.lua): classic pcap with nanoseconds, one IPv4 datagram a record and no link
// layer. Only bytes are made here; whoever owns a file writes them. Times are rounded down to
// nanoseconds.
#pragma once

#include <string>

#include "base/units.hpp"
#include "protocol/packet.hpp"

namespace cotillion {

using Ipv4Address = std::uint32_t;  // 10.0.0.1 is 0x0a000001

// Addresses for worlds that have none of their own. Islands and edges are numbered from 0, up to
// 65,535; a group belongs to one sender and one clique, both below 4096, and fills 239.0.0.0/8.
[[nodiscard]] Ipv4Address island_address(int island);  // 10.0.x.y
[[nodiscard]] Ipv4Address edge_address(int edge);      // 10.1.x.y
[[nodiscard]] Ipv4Address group_address(int sender, int clique);

// What a file begins with.
void begin_capture(std::string& file);
// One datagram between Cotillion's ports. Any bytes will do for a packet, so that broken ones can
// be looked at too. Requires a time that is not negative, and no more than a datagram holds.
void append_to_capture(std::string& file, Instant when, Ipv4Address from, Ipv4Address to,
                       ByteView packet);

}  // namespace cotillion
