#include "plan/replay.hpp"

#include <algorithm>

#include "base/infinity.hpp"

namespace cotillion {
namespace {

// A whole copy of a round that ends is made when the round begins, and merged when it ends.
LedgerPlan replayed(int islands, const Plan& plan, int fragments) {
  LedgerPlan ledger;
  ledger.island_count = islands;
  ledger.fragments = std::max(fragments, 1);
  const bool at_the_end = fragments == 0 && !plan.overlapped;
  for (const PlannedRound& round : plan.rounds) {
    ledger.rounds.emplace_back();
    for (const PlannedClique& clique : round.cliques) {
      if (clique.streams.empty()) continue;
      LedgerClique one;
      one.islands = clique.islands;
      one.weights = clique.weights;
      one.serialisation = at_the_end ? 0 : clique.serialisation.ps;
      for (std::size_t i = 0; i < clique.islands.size(); ++i) {
        one.copy.push_back(round.start.ps + (at_the_end ? 0 : clique.streams[i].offset.ps));
        one.sum.push_back(round.start.ps +
                          (at_the_end ? round.length.ps : sum_begins(clique, i).ps));
      }
      ledger.rounds.back().push_back(std::move(one));
    }
    ledger.period += round.length.ps;
  }
  return ledger;
}

}  // namespace

std::vector<RealDuration> exact_staleness(const NetworkModel& network, const Plan& plan) {
  return exact_staleness(network.map().island_count(), plan);
}

std::vector<RealDuration> exact_staleness(int islands, const Plan& plan) {
  std::vector<RealDuration> exact(kObjectives.size(), RealDuration::from_ps(kInfinity));
  if (!plan.feasible || plan.mixing.phases.empty()) return exact;
  for (const bool streamed : {false, true}) {
    const ExactStaleness counted =
        exact_staleness(islands, plan, streamed ? plan.settings.fragments : 0);
    exact[std::size_t(streamed ? Objective::kPaperStreamed : Objective::kPaper)] = counted.absolute;
    exact[std::size_t(streamed ? Objective::kSquaredStreamed : Objective::kSquared)] =
        counted.squared;
  }
  return exact;
}

ExactStaleness exact_staleness(int islands, const Plan& plan, int fragments) {
  return exact_staleness(replayed(islands, plan, fragments));
}

}  // namespace cotillion
