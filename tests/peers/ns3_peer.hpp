// The first round of a plan in ns-3, the packet simulator that most people know: what ours is
// measured against, and a second opinion on when the last chunk arrives. Only benchmarks use it;
// where ns-3 is not installed there is no run.
#pragma once

#include <optional>
#include <string_view>

#include "plan/file/plan_loader.hpp"

namespace cotillion::testing {

// How packets find their way. All three have the same nodes, lanes, packet sizes and departures,
// and edges that count contributors and send one packet on for every complete chunk.
enum class Ns3Way : std::uint8_t {
  kIp,      // UDP over IPv4 with static multicast routes: how ns-3 is used
  kFrames,  // the same devices and channels, frames copied along the trees without IP
  kEvents,  // one event of ns-3's scheduler for every hop, lanes as three numbers: its bare engine
};
[[nodiscard]] constexpr std::string_view name_of(Ns3Way way) {
  return way == Ns3Way::kIp ? "UDP/IP" : way == Ns3Way::kFrames ? "frames, no IP" : "events alone";
}

struct Ns3Run {
  std::uint64_t hops = 0;   // packets put on channels
  std::uint64_t heard = 0;  // packets of streams at the edges they are for
  std::uint64_t sums = 0;   // packets of edges at their islands
  std::uint64_t events = 0;
  Duration measured;   // from the start of the round to the last arrival at an island
  double seconds = 0;  // of Simulator::Run; building nodes and routes does not count
};

[[nodiscard]] std::optional<Ns3Run> play_in_ns3(const PlanFile& plan, Ns3Way way);

}  // namespace cotillion::testing
