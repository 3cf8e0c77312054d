// IPv4 addresses as numbers, and the ones that the protocol hands out: captures of simulated
// worlds, the lab and the daemons name islands, edges and groups alike.
#pragma once

#include <cstdint>
#include <string>

namespace cotillion {

using Ipv4Address = std::uint32_t;  // 10.0.0.1 is 0x0a000001

// Addresses for worlds that have none of their own. Islands and edges are numbered from 0, up to
// 65,535. A sender's groups are numbered; senders and numbers are below 4096 and fill 239.0.0.0/8.
// Which stream goes to which is for job/multicast_routes.hpp to say.
[[nodiscard]] Ipv4Address island_address(int island);  // 10.0.x.y
[[nodiscard]] Ipv4Address edge_address(int edge);      // 10.1.x.y
[[nodiscard]] Ipv4Address group_address(int sender, int number);

[[nodiscard]] constexpr bool is_group(Ipv4Address address) {
  return address >> 28 == 0xe;
}
[[nodiscard]] std::string to_text(Ipv4Address address);  // "10.0.0.1"

}  // namespace cotillion
