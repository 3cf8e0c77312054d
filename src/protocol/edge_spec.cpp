#include "protocol/edge_spec.hpp"

#include <cmath>

#include "base/check.hpp"
#include "base/wide.hpp"

namespace cotillion {

Bytes reorder_window(const EdgeSpec& edge) {
  COTILLION_CHECK(edge.chunk.count > 0 && edge.chunk <= edge.slot);
  const auto scaled = Int128(edge.memory.count) * edge.chunk.count;
  return {static_cast<std::int64_t>(scaled / edge.slot.count)};
}

std::size_t slot_count(const EdgeSpec& edge, int streams, BitsPerSecond rate, Duration slack) {
  COTILLION_CHECK(edge.chunk.count > 0 && edge.slot.count > 0 && streams >= 0);
  const auto reorder = std::size_t((edge.memory.count + edge.slot.count - 1) / edge.slot.count);
  const double slack_bytes = bytes_per_second(rate) * RealDuration(slack).seconds();
  const auto jitter = std::size_t(std::ceil(slack_bytes / double(edge.chunk.count)));
  return reorder + jitter + 2 * std::size_t(streams);
}

Bytes wire_bytes(const EdgeSpec& edge, Bytes payload) {
  COTILLION_CHECK(edge.chunk.count > 0);
  const std::int64_t packets = (payload.count + edge.chunk.count - 1) / edge.chunk.count;
  const Int128 total = payload.count + Int128(packets) * edge.framing.count;
  COTILLION_CHECK(total < INT64_MAX);  // maps with absurd payloads are refused when they are read
  return {std::int64_t(total)};
}

}  // namespace cotillion
