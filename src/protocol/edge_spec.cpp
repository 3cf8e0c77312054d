#include "protocol/edge_spec.hpp"

#include "base/check.hpp"
#include "base/wide.hpp"

namespace cotillion {

Bytes reorder_window(const EdgeSpec& edge) {
  COTILLION_CHECK(edge.chunk.count > 0 && edge.chunk <= edge.slot);
  const auto scaled = Int128(edge.memory.count) * edge.chunk.count;
  return {static_cast<std::int64_t>(scaled / edge.slot.count)};
}

Bytes wire_bytes(const EdgeSpec& edge, Bytes payload) {
  COTILLION_CHECK(edge.chunk.count > 0);
  const std::int64_t packets = (payload.count + edge.chunk.count - 1) / edge.chunk.count;
  return payload + packets * edge.framing;
}

}  // namespace cotillion
