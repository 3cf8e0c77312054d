// What one edge aggregator can hold. The planner prices cliques with it, the map file
// states it, and the simulator, the daemon and the hardware build their slot tables from
// it. There is no second definition anywhere.
#pragma once

#include <cstdint>

#include "base/units.hpp"

namespace cotillion {

// One bit per member of a clique, in every packet. It bounds the clique that can run.
using ContributorMask = std::uint64_t;
inline constexpr int kCliqueMembersMax = 64;
static_assert(kCliqueMembersMax == 8 * sizeof(ContributorMask));

struct EdgeSpec {
  Bytes memory;            // accumulator memory on the card: 32 GB of HBM on a V80
  Bytes chunk{8192};       // bytes of weights in one packet on the wire; one packet, one slot
  Bytes slot{8192};        // memory of one slot; wider than a chunk when bf16 sums in fp32
  Bytes framing{0};        // header, trailer and lower layers of one packet; 0: rates are goodput
  Bytes resend{64 << 20};  // memory for what was sent to the island, outside of `memory`

  friend bool operator==(const EdgeSpec&, const EdgeSpec&) = default;
};

// The arrival spread, in wire bytes of weights, that fits without evicting an open slot: the
// M of the paper's memory constraint. 32 GB of slots twice as wide as their chunks absorb
// 16 GB. Requires 0 < chunk <= slot.
[[nodiscard]] Bytes reorder_window(const EdgeSpec& edge);

// Slots that a job needs, so that "no memory" in the plan still runs on real packets: the paper's
// M, as many chunks as pass during the slack, and two packets of each stream. The planner prices M
// alone.
[[nodiscard]] std::size_t slot_count(const EdgeSpec& edge, int streams, BitsPerSecond rate,
                                     Duration slack);

// What a payload occupies on a link, framing included: every chunk carries its framing, and
// the last chunk is as short as the payload leaves it.
[[nodiscard]] Bytes wire_bytes(const EdgeSpec& edge, Bytes payload);

}  // namespace cotillion
