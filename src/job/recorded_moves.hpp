// Every copy and every merge of a run, as they really were, and the staleness that they amount to:
// the exact accounting of plan/ledger beside that of the plan. Simulator and daemons record theirs
// here.
#pragma once

#include <map>
#include <vector>

#include "job/job_assignment.hpp"
#include "job/outcome.hpp"

namespace cotillion {

class RecordedMoves {
 public:
  RecordedMoves(int islands, int fragments);

  void copied(Instant at, IslandId island, RoundId round, int fragment);
  // `row`: what it took in place of its own copy, by island.
  void merged(Instant at, IslandId island, RoundId round, int fragment,
              const std::vector<double>& row);

  // Of what was born in whole periods, without the first, in which there is nothing yet to merge,
  // and without the last rounds, in which it spreads. Nothing where islands never connect. Nothing
  // lived where so few rounds were played that no period is left, and where the record contradicts
  // itself, because clocks do.
  [[nodiscard]] std::optional<ExactOutcome> account(const Plan& plan,
                                                    const JobAssignment& assignment,
                                                    RoundId played) const;

 private:
  struct Fragment {
    LedgerRun run;
    std::map<std::vector<double>, int> known;  // rows that merges took: their place in its sums
  };
  [[nodiscard]] std::optional<ExactStaleness> lived(const Plan& plan,
                                                    const JobAssignment& assignment, RoundId played,
                                                    std::size_t around) const;

  int islands_;
  std::vector<Fragment> fragments_;
};

}  // namespace cotillion
