// What an edge holds while the streams of a clique arrive. It keeps a position from its first
// arrival to its last, so it holds, at any time, the bytes that have come of the stream that is
// ahead less the bytes that have come of the one that is behind. Streams flow evenly: the curve is
// made of straight pieces, and its corners are exact.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace cotillion {

// A stream as the edge of one island sees it.
struct StreamArrival {
  IslandId sender = 0;
  RealDuration sent;   // its offset
  RealDuration first;  // byte
  RealDuration last;   // byte
  double payload = 0;

  // Bytes of payload that have come by then.
  [[nodiscard]] double arrived(RealDuration now) const;
};

// In the order of their first bytes; ties by sender. None for an island that is alone.
[[nodiscard]] std::vector<StreamArrival> arrivals_at(const NetworkModel& network,
                                                     const PlannedClique& clique, IslandId island);

struct HeldMemory {
  RealDuration at;
  double bytes = 0;  // of payload
};

// The corners of the curve, in order of time, from the first byte to the last; empty for fewer
// than two streams, which need no memory.
[[nodiscard]] std::vector<HeldMemory> memory_held(const std::vector<StreamArrival>& arrivals);

}  // namespace cotillion
