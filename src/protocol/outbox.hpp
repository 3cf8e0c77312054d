// Where the protocol's objects put what they want sent. The host carries it: the simulator into
// its event queue, the daemon into a socket. Nothing here waits, fails or allocates.
#pragma once

#include "base/id.hpp"
#include "protocol/packet.hpp"

namespace cotillion {

// A stream that an edge hears, as the host numbers them; ≥ 0.
using SourceId = Id<struct SourceTag>;
inline constexpr SourceId kOwnIsland = -1;

enum class Towards : std::uint8_t {
  kIsland,   // the island behind this edge, or the next edge of a chain
  kGroup,    // everyone in the clique
  kOwnEdge,  // the edge in front of this island
};

class Outbox {
 public:
  // The bytes are the caller's again when this returns. Those of an edge's sums, unless they are
  // RESENT, lie in its resend store and stay as they are until as many more packets have gone out
  // as the store holds.
  virtual void send(Towards towards, ByteView packet) = 0;

 protected:
  ~Outbox() = default;
};

}  // namespace cotillion
