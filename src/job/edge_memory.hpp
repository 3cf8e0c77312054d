// Peaks of memory at edges, measured beside simulated: within two packets of each stream, or late
// packets explain the rest. A stream that is late by some time leaves as many slots open as it
// brings packets in that time.
#pragma once

#include <optional>
#include <string_view>

#include "base/table.hpp"
#include "job/side_by_side.hpp"

namespace cotillion {

enum class MemoryVerdict : std::uint8_t {
  kWithin,     // two packets a stream
  kExplained,  // by measured lateness, but for two packets a stream
  kNotExplained,
};
[[nodiscard]] std::string_view to_name(MemoryVerdict verdict);  // "within"

struct BeyondSimulated {
  double packets = 0;   // more than simulated; below zero: fewer
  double a_stream = 0;  // of them
  MemoryVerdict verdict = MemoryVerdict::kWithin;
};

// The simulated column that a measured one is held against: the one with the same faults, or the
// first. Nothing where there is none, or where the column is simulated itself.
[[nodiscard]] std::optional<std::size_t> simulated_beside(const SideBySide& sides,
                                                          std::size_t column);
// Of a measured column; nothing where nothing can be said: no simulation, no such edge, no stream.
[[nodiscard]] std::optional<BeyondSimulated> beyond_simulated(const SideBySide& sides,
                                                              const EdgeRow& edge,
                                                              std::size_t column);

[[nodiscard]] Rows memory_table(const SideBySide& sides);

}  // namespace cotillion
