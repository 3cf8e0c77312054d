// What whole packets, clocks and two rounds under way at once ask of a plan whose rounds overlap:
// how much longer its rounds have to be, how many rounds everybody keeps, and whether lanes, edges
// and the order of copies and merges allow it at all. Files may be edited by hand.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "plan/file/plan_loader.hpp"
#include "protocol/job.hpp"

namespace cotillion {

inline constexpr int kLiveRoundsMost = 3;

// By default rounds are told of this long before they start, at least.
inline constexpr Duration kAnnounced{100'000'000};

// What is added to planned times on the way from a copy to its merge.
struct OverlapLateness {
  Duration hops;   // of whole packets, the last hop's included
  Duration grace;  // at the edge, and again at the island
};

// Refused, with the place and the remedy: two streams at once out of an island, copies made before
// the merge of what they replace, and lanes that carry more than they can. `memory` is in bytes of
// payload; empty: whatever edges have is enough.
[[nodiscard]] Result<void> check_overlap(const PlanFile& plan,
                                         const IdVector<IslandId, double>& memory);

// To be added to every round, so that each fragment is merged before it is copied again, and each
// stream has left before the one after the next is announced.
[[nodiscard]] Duration overlap_stretch(const Plan& plan, const JobSpec& job,
                                       const OverlapLateness& lateness);

// Two or three: how many rounds may be under way until everybody has the last of the first, when
// every round is `stretch` longer. Refused where three are not enough.
[[nodiscard]] Result<int> live_rounds(const PlanFile& plan, Duration stretch,
                                      const OverlapLateness& lateness);

}  // namespace cotillion
