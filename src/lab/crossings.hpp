// Whether multicast was real, from the emulator's counters: each packet of a stream crosses each
// link of its tree once, and no other link. What faults lose or double is lost or doubled on one
// link, and the next ones carry what is left: so what enters a link is held against what left the
// link before it, stream by stream, and nothing may be lacking or too much, with faults or without.
#pragma once

#include <string>
#include <vector>

#include "job/multicast_routes.hpp"
#include "lab/wan_emulator.hpp"

namespace cotillion {

struct Crossings {
  std::size_t streams = 0;  // that sent anything
  std::size_t links = 0;    // that any of them crossed, each direction on its own
  std::uint64_t packets = 0;
  std::vector<std::string> problems;  // sentences; empty: multicast was real
};

// Whether a stream of this group has business there: on its tree, or on the way into an island that
// sums for itself.
[[nodiscard]] bool crosses(const PlanFile& plan, const MulticastGroup& group, LaneId lane);

// After this many rounds, of which packets are no longer under way. `silent` islands were dead, and
// need not have sent.
[[nodiscard]] Crossings crossings_of(const PlanFile& plan, const MulticastGroups& groups,
                                     const WanCounters& counters, std::size_t rounds,
                                     const std::vector<IslandId>& silent = {});

// "Multicast is real: 9 streams on 30 links, …"
[[nodiscard]] std::string crossings_text(const Crossings& crossings);
[[nodiscard]] Json crossings_json(const Crossings& crossings);

}  // namespace cotillion
