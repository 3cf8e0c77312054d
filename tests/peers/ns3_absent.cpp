#include "tests/peers/ns3_peer.hpp"

namespace cotillion::testing {

std::optional<Ns3Run> play_in_ns3(const PlanFile&, Ns3Way) {
  return std::nullopt;
}

}  // namespace cotillion::testing
