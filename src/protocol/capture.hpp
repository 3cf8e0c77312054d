// Packets that never were on a wire, as a capture file that Wireshark reads (with
// tools/cotillion.lua): classic pcap with nanoseconds, one IPv4 datagram a record and no link
// layer. Only bytes are made here; whoever owns a file writes them. Times are rounded down to
// nanoseconds.
#pragma once

#include <string>

#include "base/units.hpp"
#include "protocol/address.hpp"
#include "protocol/packet.hpp"

namespace cotillion {

// What a file begins with.
void begin_capture(std::string& file);
// One datagram between Cotillion's ports. Any bytes will do for a packet, so that broken ones can
// be looked at too. Requires a time that is not negative, and no more than a datagram holds.
void append_to_capture(std::string& file, Instant when, Ipv4Address from, Ipv4Address to,
                       ByteView packet);

}  // namespace cotillion
