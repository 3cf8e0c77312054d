// The recorder of a simulation's outcome: an observer that writes down round by round what islands
// report, when streams reached their edges, and from whom every island's state came. It knows no
// lanes and no event queue.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "job/outcome.hpp"
#include "job/recorded_moves.hpp"
#include "sim/network.hpp"
#include "sim/observer.hpp"
#include "sim/simulated_island.hpp"

namespace cotillion {

using SimulatedIslands = IdVector<IslandId, std::unique_ptr<SimulatedIsland>>;

class OutcomeRecorder final : public SimulationObserver {
 public:
  // What is referred to must outlive it.
  OutcomeRecorder(const PlanFile& plan, const JobAssignment& assignment, Missing missing,
                  const Turn& turn, const SimulatedIslands& islands);

  // Before the islands are told of the round: the slots of an earlier one are about to be taken.
  void open_round(RoundId round);
  // Before a new process takes the island's place, which knows nothing of earlier rounds.
  void forget(IslandId island);
  // Puts absences in the order of time, where partitions played ahead of one another.
  void sort_absences();
  // Once, when everything is over; the outcome is complete.
  [[nodiscard]] Outcome outcome(const Network& network, Duration played, std::uint64_t events);

  void on_fragment_copied(Instant now, SimulatedIsland& island, RoundId round,
                          int fragment) override;
  void on_merge_due(SimulatedIsland& island, RoundId round, int fragment) override;
  void on_round_closed(Instant now, SimulatedIsland& island, RoundId round,
                       std::span<const Absence> absences) override;

 private:
  using IslandInRound = std::pair<RoundId, IslandId>;
  // An absence with the turn in which it was reported.
  struct Missed {
    Turn when;
    RoundId round = 0;
    AbsenceOutcome absence;
  };

  void note_arrivals(RoundId round);
  void note_merge(SimulatedIsland& island, RoundId round, int fragment);
  void note_mixing(RoundId round);
  void note_row(RoundId round, IslandId island);
  void note_silence();
  void note_islands();

  const PlanFile& plan_;
  const JobAssignment& assignment_;
  const Missing missing_;
  const Turn& turn_;
  const SimulatedIslands& islands_;
  std::vector<Missed> missed_;
  std::map<IslandInRound, std::vector<char>> merged_;  // fragments of live rounds
  std::set<IslandInRound> noted_;                      // rows of Ŵ
  RecordedMoves moves_;
  std::set<IslandInRound> closed_;  // accounts that were given
  Outcome outcome_;
};

}  // namespace cotillion
