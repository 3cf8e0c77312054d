// Maps for tests: the examples as they are shipped, and small ones written in place.
#pragma once

#include <string>

#include "topology/map.hpp"

namespace cotillion::testing {

// Fails the program when the text is no sound map: tests write their maps correctly.
[[nodiscard]] Map map_of(const std::string& toml);
[[nodiscard]] Map example_map(const std::string& name);  // "nine-cities"
[[nodiscard]] std::string example_text(const std::string& path);

// Sets the memory of every edge.
[[nodiscard]] Map with_memory(Map map, Bytes memory);

// A random connected map of n islands, all with links of random latency.
[[nodiscard]] Map random_map(int islands, std::uint64_t seed);

}  // namespace cotillion::testing
