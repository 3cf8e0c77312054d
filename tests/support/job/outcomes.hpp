// Outcomes for tests of those who read them: made by hand from a plan, as a player would have seen
// it. Header only; nothing is simulated.
#pragma once

#include <cmath>

#include "job/complete_outcome.hpp"
#include "job/outcome_file.hpp"
#include "tests/support/plan/plans.hpp"

namespace cotillion::testing {

inline constexpr Duration kFourMicroseconds{4'000'000};

// Everything came, each clique a little later than planned: four microseconds times its round.
[[nodiscard]] inline Outcome as_planned(const PlanFile& plan, int rounds) {
  Outcome outcome;
  outcome.settings = {{"exchange", "whole"}, {"grace", "1ms"}};
  outcome.added_slack = {2'000'655'360};
  outcome.played = {1'033'311'310'720};
  outcome.hops = 12'345;
  const std::size_t n = plan.map.islands.size();
  for (int k = 1; k <= rounds; ++k) {
    const PlannedRound& planned = plan.plan.rounds[std::size_t(k - 1) % plan.plan.rounds.size()];
    RoundOutcome round;
    round.round = RoundId(k);
    round.planned = {std::llround(planned.planned.ps)};
    round.mixing.assign(n * n, 0);
    for (const PlannedClique& clique : planned.cliques) {
      const Duration price{std::llround(clique.price.ps)};
      round.cliques.push_back(
          {clique.islands, price, price + Duration{k * kFourMicroseconds.ps}, true, {}});
      round.measured = std::max(round.measured, round.cliques.back().measured);
      for (const IslandId i : clique.islands)
        for (const IslandId j : clique.islands)
          round.mixing[std::size_t(i) * n + std::size_t(j)] = 1.0 / double(clique.islands.size());
      for (const Stream& stream : clique.streams)
        for (const Arrival& arrival : stream.receivers)
          round.cliques.back().arrivals.push_back(
              {stream.sender, arrival.receiver, price, price + kFourMicroseconds});
    }
    outcome.rounds.push_back(std::move(round));
    for (const LaneUse& use : planned.lanes) {
      const auto known =
          std::find_if(outcome.lanes.begin(), outcome.lanes.end(),
                       [&](const LaneOutcome& lane) { return lane.lane == use.lane; });
      LaneOutcome& lane =
          known != outcome.lanes.end() ? *known : outcome.lanes.emplace_back(LaneOutcome{});
      lane.lane = use.lane;
      lane.bytes = lane.bytes + use.bytes;
      lane.packets += 100;
      lane.queue_longest = {std::int64_t(use.streams) * 655'360};
    }
  }
  for (IslandId island = 0; island < plan.map.island_count(); ++island) {
    EdgeOutcome edge{island, {8192 * (island + 1)}, {8000 * (island + 1)}, {}};
    edge.counters.add(EdgeCount::kResults, 1000);
    outcome.edges.push_back(edge);
    outcome.receivers.emplace_back().add(ReceiverCount::kPlaced, 2000);
    outcome.senders.emplace_back().sent = 3000;
  }
  return complete_outcome(plan, std::move(outcome));
}

// The first clique's second member is not heard in the first round.
inline void lose_one(Outcome& outcome, ChunkId chunks = 7) {
  RoundOutcome& round = outcome.rounds[0];
  CliqueOutcome& clique = round.cliques[0];
  clique.complete = false;
  const IslandId lost = clique.islands[1];
  const auto n = std::size_t(std::sqrt(double(round.mixing.size())));
  for (const IslandId island : clique.islands) {
    if (island == lost) continue;
    round.absences.push_back({{lost, chunks, 3}, island});
    double& from = round.mixing[std::size_t(island) * n + std::size_t(lost)];
    round.mixing[std::size_t(island) * n + std::size_t(island)] += from;
    from = 0;
    outcome.edges[island].counters.add(EdgeCount::kTimeouts, chunks);
  }
}

[[nodiscard]] inline Provenance made_from_plan(
    const std::string& hash = "sha256:0123456789abcdef") {
  return {"0.1.0", "c0ffee", 5, {{"plan", hash}}};
}

[[nodiscard]] inline PlanFile small_plan(const std::string& schedule = "triangles") {
  return nine_city_plan(schedule, {0}, {2'000'000});
}

}  // namespace cotillion::testing
