// Islands without training code: everyone's model is a function that everyone knows, so that each
// can check every sum it is given against what it should be, chunk by chunk.
#pragma once

#include <cstdint>

#include "protocol/packet.hpp"
#include "topology/map.hpp"

namespace cotillion {

// An element of an island's model in a round: a small whole number, exact in every kind of element
// and in every sum and mean of a clique.
[[nodiscard]] inline float rehearsed(IslandId island, RoundId round, std::uint64_t element) {
  std::uint64_t mixed = (element + 1) * 0x9e37'79b9'7f4a'7c15u;
  mixed ^= (std::uint64_t(round) << 32u | std::uint32_t(island + 1)) * 0xbf58'476d'1ce4'e5b9u;
  mixed ^= mixed >> 31u;
  return float((mixed * 0x94d0'49bb'1331'11ebu) >> 57u);
}

}  // namespace cotillion
