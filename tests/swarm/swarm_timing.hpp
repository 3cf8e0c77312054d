// When things can have happened in a play that is over: who must have been heard by when, given the
// queues that really formed, the delays that faults may add and clocks that were wrong. Only what
// was lost, or could not come in time, may be missing; this says what "in time" is. Rounds may
// overlap: then streams follow each other, and whole sums wait for their turn on the last hop.
//
// Times are picoseconds from the start of the first round, as doubles: bounds, not events.
#pragma once

#include <vector>

#include "tests/swarm/swarm_case.hpp"

namespace cotillion::testing {

class SwarmTiming {
 public:
  SwarmTiming(const Modelled& network, const JobAssignment& assignment);
  // How long queues were. Without it lanes count as empty.
  void note_queues(const Outcome& outcome);

  // Whether it keeps another time than the plan: a wrong clock, or slow.
  [[nodiscard]] bool off_beat(IslandId island) const;
  [[nodiscard]] bool ever_dead(IslandId island) const { return !deaths_[island].empty(); }
  [[nodiscard]] bool dead_at(IslandId island, double when) const;
  // From the announcement of the round to its account.
  [[nodiscard]] bool dead_in(RoundId round, IslandId island) const;
  // Whether a chunk can have left at all before its sender died.
  [[nodiscard]] bool can_have_left(RoundId round, IslandId sender, ChunkId chunk) const;
  // The account of a round is given by then, whatever happens.
  [[nodiscard]] double closes_by(RoundId round, IslandId island) const;

  // Whether edges wait as long beyond planned arrivals as grace says, and islands long enough
  // for what an edge puts out at its deadline; what is wrong otherwise. Queues aside.
  [[nodiscard]] std::string hasty_deadline(RoundId round, IslandId island) const;

  // How often its edge restarts, if all of that must have been noticed; nothing otherwise.
  [[nodiscard]] std::optional<std::uint64_t> restarts_noticed(IslandId island, int rounds) const;

  // Whose contributions to a chunk must be in the average, and must not be reported absent.
  struct Owed {
    ContributorMask at_merge = 0;
    ContributorMask at_close = 0;
  };
  [[nodiscard]] std::vector<Owed> owed(RoundId round, IslandId island) const;  // by chunk

 private:
  struct Clock {
    double ahead = 0;
    double drift = 0;
  };
  struct Span {
    double from = 0, until = 0;
  };
  // From a sender's island to a receiver's edge.
  struct Way {
    double shortest = 0, longest = 0;
    bool risky = false;
    bool delayed = false;  // by faults: packets may overtake each other
  };

  // Whose stream of a round is heard at an edge.
  struct Voice {
    IslandId island = 0;
    Way way;
    RoundAssignment part;
    double until = 0;  // it lets go of the round
  };

  [[nodiscard]] double to_true(IslandId island, double own) const;
  [[nodiscard]] double departure(const RoundAssignment& part, ChunkId chunk) const;  // as planned
  [[nodiscard]] double fragment_deadline(const RoundAssignment& part, int fragment) const;
  [[nodiscard]] bool risky(LaneId lane, Span when) const;
  [[nodiscard]] Way way(RoundId round, IslandId from, IslandId to, Span when) const;
  [[nodiscard]] bool restarted(IslandId island, Span when) const;
  [[nodiscard]] bool dead_between(IslandId island, Span when) const;
  [[nodiscard]] bool introduced(RoundId round, IslandId from, IslandId to, Span when) const;
  [[nodiscard]] double opens(RoundId round) const;
  [[nodiscard]] double lateness(IslandId island, Span when) const;
  [[nodiscard]] double leaves_by(const RoundAssignment& part, IslandId sender, ChunkId chunk,
                                 Span when) const;
  [[nodiscard]] double lets_go(RoundId round, IslandId sender) const;
  [[nodiscard]] std::vector<Voice> safe_voices(RoundId round, IslandId to, Span when) const;

  const PlanFile& plan_;
  const JobAssignment& assignment_;
  const JobSettings& settings_;
  IdVector<LaneId, double> shortest_;          // one packet, no queue, no fault
  IdVector<LaneId, double> longest_;           // from putting a packet on it to its arrival
  IdVector<LaneId, std::vector<Span>> risks_;  // when packets may be lost there
  IdVector<IslandId, Clock> clocks_;
  IdVector<IslandId, std::vector<Span>> deaths_;
  IdVector<IslandId, std::vector<double>> restarts_;
  struct Slow {
    Span span;
    double late = 0;
  };
  IdVector<IslandId, std::vector<Slow>> slow_;
  IdVector<LaneId, bool> delays_;  // faults make packets late there
  bool overlapped_;
};

}  // namespace cotillion::testing
