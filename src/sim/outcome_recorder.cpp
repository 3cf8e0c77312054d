#include "sim/outcome_recorder.hpp"

#include <algorithm>
#include <tuple>

#include "job/complete_outcome.hpp"
#include "sim/event_queue.hpp"

namespace cotillion {

OutcomeRecorder::OutcomeRecorder(const PlanFile& plan, const JobAssignment& assignment,
                                 Missing missing, const Turn& turn, const SimulatedIslands& islands)
    : plan_(plan),
      assignment_(assignment),
      missing_(missing),
      turn_(turn),
      islands_(islands),
      moves_(plan.map.island_count(), assignment.job().fragments) {}

void OutcomeRecorder::open_round(RoundId round) {
  const auto live = RoundId(assignment_.live_rounds());
  const RoundId arriving = plan_.plan.overlapped ? live : 1;
  if (round > arriving) note_arrivals(round - arriving);
  if (round > live) note_mixing(round - live);  // its slots are about to be taken
  if (round > 4) merged_.erase(merged_.begin(), merged_.lower_bound({round - 4, 0}));
  outcome_.rounds.push_back(planned_round(plan_, round));
}

void OutcomeRecorder::forget(IslandId island) {
  for (const RoundOutcome& round : outcome_.rounds) note_row(round.round, island);
}

void OutcomeRecorder::on_fragment_copied(Instant now, SimulatedIsland& island, RoundId round,
                                         int fragment) {
  moves_.copied(now, island.id(), round, fragment);
}

// What came of the fragment, mean over its chunks.
void OutcomeRecorder::note_merge(SimulatedIsland& island, RoundId round, int fragment) {
  const RoundAssignment part = assignment_.part(round, island.id(), kOrigin);
  const auto masks = island.receiver().contributors(round);
  const JobSpec& job = assignment_.job();
  const ChunkId from = first_chunk(job, fragment), to = first_chunk(job, fragment + 1);
  std::vector<double> row(plan_.map.islands.size());
  for (ChunkId chunk = from; chunk < to; ++chunk)
    add_mixing(row, part, missing_, {masks[chunk], 1.0 / double(to - from)});
  moves_.merged(turn_.now, island.id(), round, fragment, row);
}

void OutcomeRecorder::on_merge_due(SimulatedIsland& island, RoundId round, int fragment) {
  note_merge(island, round, fragment);
  std::vector<char>& merged = merged_[{round, island.id()}];
  merged.resize(std::size_t(assignment_.job().fragments));
  merged[std::size_t(fragment)] = 1;
  // An island that is far behind merges when a round's slots are taken, after its row was noted.
  if (noted_.erase({round, island.id()}) > 0) note_row(round, island.id());
}

void OutcomeRecorder::on_round_closed(Instant, SimulatedIsland& island, RoundId round,
                                      std::span<const Absence> absences) {
  closed_.insert({round, island.id()});
  RoundOutcome& seen = outcome_.rounds[round - 1];
  const RoundAssignment part = assignment_.part(round, island.id(), kOrigin);
  CliqueOutcome& clique = seen.cliques[std::size_t(part.spec.clique)];
  for (const Absence& absence : absences) {
    clique.complete = false;
    missed_.push_back(
        {turn_,
         round,
         {{part.clique[absence.contributor], absence.chunks, absence.first_chunk}, island.id()}});
  }
  if (part.spec.expected == 0) return;
  const Instant last = island.true_time(island.receiver().last_placed(round));
  clique.measured = std::max(clique.measured, last - assignment_.start_of(round, kOrigin));
  seen.measured = std::max(seen.measured, clique.measured);
}

void OutcomeRecorder::note_arrivals(RoundId round) {
  const PlannedRound& planned = plan_.plan.rounds[assignment_.phase_of(round)];
  const Instant start = assignment_.start_of(round, kOrigin);
  for (std::size_t c = 0; c < planned.cliques.size(); ++c)
    for (const Stream& stream : planned.cliques[c].streams)
      for (const Arrival& arrival : stream.receivers) {
        const Instant last =
            islands_[arrival.receiver]->last_accepted(source_of(stream.sender), round);
        outcome_.rounds[round - 1].cliques[c].arrivals.push_back(
            {stream.sender, arrival.receiver, due_at_edge(plan_, stream, arrival),
             last == kNever ? Duration{0} : last - start});
      }
}

void OutcomeRecorder::note_mixing(RoundId round) {
  for (IslandId island = 0; island < plan_.map.island_count(); ++island) note_row(round, island);
}

// Once.
void OutcomeRecorder::note_row(RoundId round, IslandId island) {
  const std::size_t n = plan_.map.islands.size();
  std::vector<double>& mixing = outcome_.rounds[round - 1].mixing;
  mixing.resize(n * n);
  if (!noted_.insert({round, island}).second) return;
  std::vector<double> row(n);
  const RoundAssignment part = assignment_.part(round, island, kOrigin);
  const auto masks = islands_[island]->receiver().contributors(round);
  const std::vector<char>& merged = merged_[{round, island}];
  const double share = 1.0 / double(assignment_.job_chunks());
  for (ChunkId chunk = 0; chunk < assignment_.job_chunks(); ++chunk) {
    // What came and was not merged, because the island died first, is not in its model.
    const bool in = !masks.empty() && !merged.empty() &&
                    merged[std::size_t(fragment_of(assignment_.job(), chunk))] != 0;
    add_mixing(row, part, missing_, {in ? masks[chunk] : 0, share});
  }
  std::copy(row.begin(), row.end(), mixing.begin() + std::ptrdiff_t(std::size_t(island) * n));
}

Outcome OutcomeRecorder::outcome(const Network& network, Duration played, std::uint64_t events) {
  const int opened = int(outcome_.rounds.size()), live = assignment_.live_rounds();
  const int arriving = plan_.plan.overlapped ? live : 1;
  for (int round = std::max(1, opened - arriving + 1); round <= opened; ++round)
    note_arrivals(RoundId(round));
  for (int round = std::max(1, opened - live + 1); round <= opened; ++round)
    note_mixing(RoundId(round));
  for (const Missed& missed : missed_)
    outcome_.rounds[missed.round - 1].absences.push_back(missed.absence);
  note_silence();
  note_islands();
  outcome_.lanes = network.lanes();
  outcome_.hops = network.hops();
  outcome_.events = events;
  outcome_.played = played;
  outcome_.added_slack = assignment_.added_slack();
  outcome_.exact = moves_.account(plan_.plan, assignment_, RoundId(outcome_.rounds.size()));
  return complete_outcome(plan_, std::move(outcome_));
}

void OutcomeRecorder::sort_absences() {
  std::stable_sort(missed_.begin(), missed_.end(), [](const Missed& a, const Missed& b) {
    return std::tie(a.when.now, a.when.place) < std::tie(b.when.now, b.when.place);
  });
}

// Who gave no account of a round was dead.
void OutcomeRecorder::note_silence() {
  for (RoundOutcome& round : outcome_.rounds)
    for (IslandId island = 0; island < plan_.map.island_count(); ++island) {
      const RoundAssignment part = assignment_.part(round.round, island, kOrigin);
      if (part.spec.expected == 0 || closed_.count({round.round, island}) > 0) continue;
      round.cliques[std::size_t(part.spec.clique)].complete = false;
      round.absences.push_back({{island, assignment_.job_chunks(), 0}, island});
    }
}

void OutcomeRecorder::note_islands() {
  outcome_.edges = planned_edges(plan_, outcome_.rounds.size());
  for (const auto& island : islands_) {
    EdgeOutcome& edge = outcome_.edges[island->id()];
    edge.memory_peak = {std::int64_t(island->open_slots_peak()) *
                        edge_of(plan_, island->id()).slot.count};
    edge.counters = island->edge_counters();
    outcome_.receivers.push_back(island->receiver_counters());
    outcome_.senders.push_back(island->sender_counters());
    outcome_.steps.push_back(island->steps());
  }
}

}  // namespace cotillion
