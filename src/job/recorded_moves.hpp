// Every copy and every merge of a run, as they really were, and the staleness that they amount to:
// the exact accounting of plan/ledger beside that of the plan.
#pragma once

#include <optional>
#include <vector>

#include "job/job_assignment.hpp"
#include "plan/ledger.hpp"

namespace cotillion {

class RecordedMoves {
 public:
  RecordedMoves(int islands, int fragments);

  void copied(Instant at, IslandId island, RoundId round, int fragment);
  // `row`: what it took in place of its own copy, by island.
  void merged(Instant at, IslandId island, RoundId round, int fragment,
              const std::vector<double>& row);

  // Of what was born in whole periods, without the first, in which there is nothing yet to merge,
  // and without the last rounds, in which it spreads. Nothing where so few rounds were played that
  // no period is left, or where updates spread too slowly.
  [[nodiscard]] std::optional<ExactStaleness> staleness(const Plan& plan,
                                                        const JobAssignment& assignment,
                                                        RoundId played) const;

 private:
  [[nodiscard]] LedgerRun& run_of(int fragment) { return runs_[std::size_t(fragment)]; }

  std::vector<LedgerRun> runs_;  // by fragment
};

}  // namespace cotillion
