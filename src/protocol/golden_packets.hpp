// Packets with names, at least one of each type and each flag. docs/understand/protocol.md prints
// their bytes for whoever writes a second implementation; packet_test.cpp holds the document to the
// encoder, and the dissector's test and the hardware bench read the same list.
#pragma once

#include <string_view>
#include <vector>

#include "protocol/seal.hpp"

namespace cotillion {

struct GoldenPacket {
  std::string_view name;  // "data-f32"
  std::vector<std::byte> bytes;
};

// All are of this boot; "data-mac" and its copy are sealed by this source with this secret.
inline constexpr BootId kGoldenBoot = 0x0000'018f'5e2a'1b07;
inline constexpr SourceName kGoldenSource = 3;
inline constexpr Key kGoldenSecret = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

[[nodiscard]] std::vector<GoldenPacket> golden_packets();
// Requires a name that is in the list.
[[nodiscard]] GoldenPacket golden_packet(std::string_view name);

}  // namespace cotillion
