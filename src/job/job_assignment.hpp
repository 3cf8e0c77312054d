// From a plan to everyone's part in it: what each island sends and when, what each edge waits for
// and until when, how many slots it needs. The simulator and the daemons take their parts from
// here, so that they play the same piece.
#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "job/multicast_routes.hpp"
#include "plan/file/plan_loader.hpp"
#include "protocol/receiver.hpp"

namespace cotillion {

struct JobSettings {
  JobId job = 1;
  Element element = Element::kF32;
  Exchange exchange = Exchange::kWhole;
  int fragments = 1;  // of a streamed exchange
  // Beyond the latest planned arrival and the hops' store-and-forward time, until a chunk is given
  // up at an edge: for jitter and clocks.
  Duration grace{1'000'000'000};
  // What edges really have, when it is not what the plan was made for: to see it overflow.
  std::optional<Bytes> memory;
};

// One island's part in one round.
struct RoundAssignment {
  Instant start;       // of the round
  RoundSpec spec;      // for its edge and its receiver; sources are islands
  bool sends = false;  // not when it sits out
  StreamSpec stream;
  ReceiverRound receiver;
  std::vector<IslandId> clique;  // sorted; mask bits index it
};

// The number of an island's stream at every edge.
[[nodiscard]] inline SourceId source_of(IslandId island) {
  return SourceId(int(island));
}

class JobAssignment {
 public:
  // Refuses plans that cannot be played, with the reason: infeasible, not runnable, chunks that
  // are no whole beats, edges that disagree about them, payloads that are no whole elements, rounds
  // that overlap more than lanes, edges or the protocol can hold.
  [[nodiscard]] static Result<JobAssignment> make(const PlanFile& plan,
                                                  const JobSettings& settings);

  [[nodiscard]] const JobSettings& settings() const { return settings_; }
  [[nodiscard]] const JobSpec& job() const { return job_; }
  [[nodiscard]] ChunkId job_chunks() const { return chunk_count(job_); }
  [[nodiscard]] Bytes framing() const { return framing_; }
  // Rounds count from 1; the first starts at `origin`.
  [[nodiscard]] Instant start_of(RoundId round, Instant origin) const;
  [[nodiscard]] std::size_t phase_of(RoundId round) const { return (round - 1) % starts_.size(); }
  [[nodiscard]] RoundAssignment part(RoundId round, IslandId island, Instant origin) const;
  // Where streams go, by phase_of a round.
  [[nodiscard]] const MulticastGroups& groups() const { return groups_; }

  // How many rounds everybody keeps: a round opens in the place of the one so many before it.
  [[nodiscard]] int live_rounds() const { return live_rounds_; }
  // When everybody has the last of a round, or has given it up: with the start of the next one,
  // unless they overlap.
  [[nodiscard]] Instant over(RoundId round, Instant origin) const;

  // What an island's edge must hold, over all rounds of the period.
  [[nodiscard]] std::size_t slots(IslandId island) const { return slots_[island]; }
  // Added to every round of the plan, where its own slack is less than hops and grace need.
  [[nodiscard]] Duration added_slack() const { return added_slack_; }
  // How late packets and clocks may make a round: by the plan's slack and what was added to it, or
  // where rounds overlap by hops and grace, for which merges leave room before the next copies.
  [[nodiscard]] Duration slack() const { return slack_; }
  // The longest time that whole packets spend at hops beyond the plan's fluid streams, queues
  // behind the other streams of each lane included.
  [[nodiscard]] Duration hops_max() const { return hops_max_; }

 private:
  JobAssignment(const PlanFile& plan, const JobSettings& settings);
  void measure_hops();
  void size_slots();
  void note_ends();
  [[nodiscard]] Result<void> lay_rounds(const PlanFile& plan);
  [[nodiscard]] int streams_on(std::size_t phase, LaneId lane) const;
  [[nodiscard]] Duration hops_of(std::size_t phase, const std::vector<LaneId>& lanes) const;

  const Map& map_;
  const Plan& plan_;
  const IdVector<IslandId, Ingress>& ingress_;
  JobSettings settings_;
  MulticastGroups groups_;
  JobSpec job_;
  Bytes framing_;
  std::vector<Instant> starts_;  // of the period's rounds, from its start
  Duration period_;
  Duration hops_max_{0};
  Duration last_hops_max_{0};  // the same between edges and islands
  Duration added_slack_{0};
  Duration slack_{0};
  int live_rounds_ = 2;
  std::vector<Duration> over_;  // of the period's rounds that overlap, from the start of each
  IdVector<IslandId, std::size_t> slots_;
};

}  // namespace cotillion
