// Maps out of nothing, for questions of scale: islands around the places where data centres
// stand, joined by fibre with the latency of its length. The same seed gives the same map on
// every machine, to the last bit.
#pragma once

#include <cstdint>

#include "topology/map.hpp"

namespace cotillion {

struct GenerateOptions {
  Bytes payload{1'000'000'000};
  BitsPerSecond access{20e9};
  Bytes memory{32'000'000'000};
};

inline constexpr int kGeneratedIslandsMax = int(kPlacesMax);

// Each island lays three to five links of its own, so that there are about four times as many
// links as islands: most to its nearest neighbours, some to another region. One of them leads to
// an island before it, which makes the map connected. Requires 1 <= islands <= the maximum.
[[nodiscard]] Map generate_map(int islands, std::uint64_t seed,
                               const GenerateOptions& options = {});

}  // namespace cotillion
