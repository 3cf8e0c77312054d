// Whether an outcome is what its plan promised, with whole packets in place of fluid streams.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "job/outcome_file.hpp"

namespace cotillion::testing {

inline constexpr Duration kTenMicroseconds{10'000'000};

// The time that one packet spends whole on each lane of the longest way.
[[nodiscard]] inline Duration store_and_forward(const PlanFile& plan, const PlannedClique& clique) {
  const EdgeSpec& edge = plan.map.aggregators.front().spec;
  const Bytes packet = edge.chunk + edge.framing;
  double longest = 0;
  for (const Stream& stream : clique.streams) {
    double lanes = 0;
    for (const LaneId lane : stream.tree)
      lanes += transfer_time(packet, lane_rate(plan.map, lane)).ps;
    for (const Arrival& arrival : stream.receivers)
      for (const LaneId lane : plan.ingress[arrival.receiver].lanes)
        longest = std::max(longest, lanes + transfer_time(packet, lane_rate(plan.map, lane)).ps);
  }
  return {std::llround(longest)};
}

// `later`: what may come on top, for instance the time that repairs take.
inline void expect_as_planned(const PlanFile& plan, const Outcome& outcome, Duration later = {0}) {
  for (const RoundOutcome& round : outcome.rounds) {
    EXPECT_TRUE(round.absences.empty());
    const PlannedRound& planned = plan.plan.rounds[(round.round - 1) % plan.plan.rounds.size()];
    for (std::size_t c = 0; c < round.cliques.size(); ++c) {
      const CliqueOutcome& clique = round.cliques[c];
      if (clique.islands.size() < 2) continue;
      const Duration over = clique.measured - clique.planned;
      EXPECT_LE(over, store_and_forward(plan, planned.cliques[c]) + kTenMicroseconds + later);
      EXPECT_GE(over, Duration{0} - kTenMicroseconds);
    }
  }
  for (const EdgeOutcome& edge : outcome.edges) {
    EXPECT_EQ(edge.counters[EdgeCount::kTimeouts], 0u);
    EXPECT_EQ(edge.counters[EdgeCount::kConflicts], 0u);
    EXPECT_EQ(edge.counters[EdgeCount::kLate], 0u);
    const std::int64_t streams = plan.map.island_count() - 1;
    EXPECT_LE(std::abs(edge.memory_peak.count - edge.memory_planned.count),
              streams * plan.map.aggregators.front().spec.slot.count);
  }
}

}  // namespace cotillion::testing
