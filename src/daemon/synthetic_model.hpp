// Islands without training code: everyone's model is a function that everyone knows, so that each
// can check every sum it is given against what it should be, chunk by chunk.
#pragma once

#include <cstdint>

#include "protocol/packet.hpp"
#include "topology/map.hpp"

namespace cotillion {

// An island's model in a round: small whole numbers, exact in every kind of element and in every
// sum and mean of a clique. Words of 32 bits, so that a loop over elements becomes one of vectors.
class SyntheticModel {
 public:
  SyntheticModel(IslandId island, RoundId round) {
    std::uint64_t mixed = (std::uint64_t(round) << 32u | std::uint32_t(island + 1));
    mixed = (mixed ^ mixed >> 31u) * 0xbf58'476d'1ce4'e5b9u;
    key_ = std::uint32_t(mixed >> 32u);
  }
  [[nodiscard]] float at(std::uint64_t element) const {
    std::uint32_t mixed = (std::uint32_t(element) ^ key_) * 0x9e37'79b1u;
    mixed = (mixed ^ mixed >> 15u) * 0x85eb'ca6bu;
    return float(std::int32_t(mixed >> 25u));
  }

 private:
  std::uint32_t key_;
};

}  // namespace cotillion
