// The two halves of a probe, and what they share.
#pragma once

#include "lab/probe.hpp"
#include "lab/probe_receivers.hpp"

namespace cotillion {

[[nodiscard]] inline const EdgeSpec& packets_of(const Map& map) {
  return map.aggregators.empty() ? map.edge : map.aggregators.front().spec;
}
[[nodiscard]] inline std::size_t chunk_of(const Map& map) {
  return std::size_t(packets_of(map).chunk.count);
}
[[nodiscard]] inline Bytes framing_of(const Map& map) {
  return packets_of(map).framing;
}

// False when it was asked to end before.
[[nodiscard]] bool wait_until_heard(const ProbeReceivers& receivers, std::size_t expected,
                                    Duration timeout);

// Trains over every lane alone, without faults.
[[nodiscard]] Result<std::vector<LaneMeasure>> measure_links(World& world,
                                                             const ProbeSettings& settings);
// Every stream of every round along its tree; fills in the rest of the outcome.
[[nodiscard]] Result<void> send_streams(World& world, const ProbeSettings& settings,
                                        ProbeOutcome& outcome);

}  // namespace cotillion
