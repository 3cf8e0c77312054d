// HEARTBEAT and END: how a source says which boot it is on and how far it has come. Both are sent
// by senders and by edges, so their form is here once.
#pragma once

#include <array>
#include <optional>

#include "protocol/seal.hpp"

namespace cotillion {

using Announcement = std::array<std::byte, packet_bytes(kBeatBytes)>;

// The packet, written into `room` and sealed. HEARTBEAT carries the seal's boot id, END nothing.
[[nodiscard]] ByteSpan write_announcement(Announcement& room, const Header& header, Seal& seal);

// What a HEARTBEAT announces; nothing when it is too short.
[[nodiscard]] std::optional<BootId> boot_in(ByteView heartbeat);

// Believes a heartbeat that repeats the boot known or announces a newer one; false for all others.
[[nodiscard]] bool believe(Seal& seal, ByteView heartbeat);

}  // namespace cotillion
