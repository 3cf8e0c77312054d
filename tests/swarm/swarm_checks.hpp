// What must hold of every play, whatever goes wrong in it. Copies of all that islands put on the
// wire are kept, so that every average can be computed again in double precision for exactly those
// contributors that a receiver claims; and a shadow of every model follows what is merged into it,
// bit by bit. The first thing that does not hold is kept.
#pragma once

#include <string>
#include <vector>

#include "tests/swarm/swarm_timing.hpp"

namespace cotillion::testing {

// What does not hold, by a name that stays the same when the case shrinks, and the particulars.
struct Wrong {
  std::string invariant;  // empty: everything holds
  std::string what;
};

// How much was looked at, so that a test can tell whether it saw anything.
struct Tally {
  std::uint64_t cases = 0, packets = 0, merges = 0, averages = 0, whole = 0, partial = 0, late = 0,
                absences = 0, owed = 0, alike = 0, deaths = 0, restarts = 0, relaxed = 0,
                overlapped = 0, thrice = 0, refused = 0, counted = 0;
  void add(const Tally& other);
};
[[nodiscard]] std::string to_text(const Tally& tally);

class SwarmChecks final : private SimulationObserver {
 public:
  SwarmChecks(const SwarmCase& swarm, const Modelled& network, const JobAssignment& assignment);

  // Fills models, lets islands learn a little between merges, and watches.
  void watch(SimulationSettings& settings);
  void conclude(const Outcome& outcome);

  [[nodiscard]] const Wrong& wrong() const { return wrong_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }

  // One island in one round.
  using Values = std::vector<double>;
  struct Record {
    RoundAssignment part;
    std::vector<Values> sent;             // by chunk: its own contribution, as it lies on the wire
    std::vector<Values> average;          // by chunk: as merged, late parts included
    std::vector<ContributorMask> merged;  // by chunk: who was there at the merge
    std::vector<ContributorMask> masks;   // the same with those who came late
    std::vector<ContributorMask> listed;  // by chunk: who was there when the account was given
    std::vector<bool> fragments;          // merged
    std::vector<Absence> absences;
    bool closed = false;
  };
  [[nodiscard]] const Record& record(RoundId round, IslandId island) const {
    return records_[round - 1][island];
  }

 private:
  void fail(const char* invariant, const std::string& what);
  [[nodiscard]] std::string name(IslandId island, RoundId round) const;
  [[nodiscard]] int islands() const { return network_.plan.map.island_count(); }
  [[nodiscard]] bool has(FaultKind kind) const;

  // swarm_checks.cpp: while it is played
  void fill(IslandId island, std::vector<float>& model);
  void on_step(SimulatedIsland& simulated, std::uint64_t step) override;
  void on_copied(SimulatedIsland& simulated, RoundId round, std::uint64_t first,
                 std::span<const float> values) override;
  void check_order(RoundId round, IslandId island, int fragment);
  void on_merge_due(SimulatedIsland& simulated, RoundId round, int fragment) override;
  void on_late_merged(SimulatedIsland& simulated, RoundId round, int fragment) override;
  void on_round_closed(Instant now, SimulatedIsland& simulated, RoundId round,
                       std::span<const Absence> absences) override;
  [[nodiscard]] double on_the_wire(float value, int members) const;
  // The average for these contributors; `bound` is how far rounding may take it.
  Values average_of(const Record& here, RoundId round, ChunkId chunk, ContributorMask present,
                    Values& bound) const;
  void check_average(SimulatedIsland& simulated, IslandId island, RoundId round, ChunkId chunk,
                     ContributorMask present, Values& average);

  // swarm_outcome_checks.cpp: when it is over
  void check_rounds(const Outcome& outcome);
  void check_accounts(const RoundOutcome& round);
  [[nodiscard]] static bool is_silent(const Record& here);
  void check_owed(RoundId round, IslandId island);
  void check_bits(RoundId round, const std::vector<IslandId>& clique);
  void check_mixing(const RoundOutcome& round);
  void check_times(const RoundOutcome& round);
  void note_relaxations();

  // swarm_plan_checks.cpp: what must be as planned where nothing goes wrong
  [[nodiscard]] Bytes packet() const;
  [[nodiscard]] double announcements() const;  // what they add to chunks, at most
  [[nodiscard]] bool announcements_fit() const;
  [[nodiscard]] double later_at_most() const;
  void check_nothing_wrong(const Outcome& outcome);
  void check_whole(const Outcome& outcome);
  void check_round_time(const RoundOutcome& round);
  void check_arrivals(const Outcome& outcome);
  void check_memory(const Outcome& outcome);
  void check_queues(const Outcome& outcome);
  void check_staleness(const Outcome& outcome);

  // swarm_counter_checks.cpp
  void check_edges(const Outcome& outcome);
  void check_islands(const Outcome& outcome);

  const SwarmCase& swarm_;
  const Modelled& network_;
  const JobAssignment& assignment_;
  const JobSpec& job_;
  SwarmTiming timing_;
  std::vector<IdVector<IslandId, Record>> records_;  // by round and island
  IdVector<IslandId, std::vector<float>> models_;    // as it must be
  Wrong wrong_;
  Tally tally_;
};

}  // namespace cotillion::testing
