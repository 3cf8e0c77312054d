// What must hold of counters: everything that came is counted once, under what became of it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tests/swarm/swarm_checks.hpp"

namespace cotillion::testing {

bool SwarmChecks::has(FaultKind kind) const {
  return std::any_of(swarm_.faults.begin(), swarm_.faults.end(),
                     [&](const SwarmFault& fault) { return fault.kind == kind; });
}

void SwarmChecks::check_edges(const Outcome& outcome) {
  using enum EdgeCount;
  const bool spoils = has(FaultKind::kCorrupt) || has(FaultKind::kTruncate);
  for (const EdgeOutcome& edge : outcome.edges) {
    const EdgeCounters& counts = edge.counters;
    const std::string& who = network_.plan.map.islands[edge.island].name;
    const Map& map = network_.plan.map;
    const Ingress& ingress = network_.plan.ingress[edge.island];
    const Bytes slot = map.aggregators[ingress.edge].spec.slot;
    const std::int64_t slots = std::int64_t(assignment_.slots(edge.island)) * slot.count;
    if (edge.memory_peak.count > slots)
      fail("edges keep to their slots", fmt::format("{}: {}", who, to_text(edge.memory_peak)));
    // Whatever leaves an edge leaves it for one reason.
    if (counts[kOutputs] != counts[kResults] + counts[kCompletedPartials] + counts[kTimeouts] +
                                counts[kConflicts] + counts[kLate])
      fail("outputs have one reason each", who);
    if (counts[kAccepted] < counts[kOutputs]) fail("outputs are of contributions", who);
    for (const EdgeCount never :
         {kOverlaps, kUnknownBoot, kNotFinite, kOverRate, kRepairsAsked, kRepaired}) {
      // RESENT is outside the seal: a flipped bit there makes a contribution look repaired.
      if (counts[never] == 0 || (never == kRepaired && has(FaultKind::kCorrupt))) continue;
      fail("edges count only what happened",
           fmt::format("{}: {} {}", who, counts[never], name_of(never)));
    }
    // Whoever comes back speaks under a new boot, to which edges must be introduced first.
    if (!spoils && counts[kUnexpected] + (has(FaultKind::kDead) ? 0 : counts[kForged]) != 0)
      fail("nothing is forged where nothing is spoiled", who);
    const bool copies = has(FaultKind::kDuplicate) || has(FaultKind::kReplay);
    if (!copies && counts[kDuplicates] != 0) fail("no duplicates where nothing is copied", who);
    std::uint64_t sent = 0;  // towards this edge, in all rounds
    for (RoundId round = 1; round <= RoundId(swarm_.rounds); ++round)
      sent += chunk_count(job_) *
              std::uint64_t(std::popcount(record(round, edge.island).part.spec.expected));
    if (!has(FaultKind::kRestart) && counts[kAccepted] > sent)
      fail("nothing is accepted twice", fmt::format("{}: {} of {}", who, counts[kAccepted], sent));
    const bool fits = !network_.plan.plan.overlapped || announcements_fit();
    if (swarm_.faults.empty() && fits && counts[kAccepted] != sent)
      fail("everything is accepted", fmt::format("{}: {} of {}", who, counts[kAccepted], sent));
  }
}

void SwarmChecks::check_islands(const Outcome& outcome) {
  using enum ReceiverCount;
  const bool spoils = has(FaultKind::kCorrupt) || has(FaultKind::kTruncate);
  std::uint64_t hops = 0;
  for (const LaneOutcome& lane : outcome.lanes) {
    hops += lane.packets;
    if (lane.lost > lane.packets ||
        (lane.lost > 0 && !has(FaultKind::kLoss) && !has(FaultKind::kDown)))
      fail("lanes lose what they were told to", fmt::format("lane {}", lane.lane));
  }
  if (hops != outcome.hops) fail("hops are packets on lanes", fmt::format("{}", outcome.hops));
  for (IslandId island = 0; island < islands(); ++island) {
    const std::string& who = network_.plan.map.islands[island].name;
    const ReceiverCounters& counts = outcome.receivers[island];
    const SenderCounters& sender = outcome.senders[island];
    const EdgeCounters& edge = outcome.edges[island].counters;
    const std::uint64_t heard = counts[kPlaced] + counts[kLate] + counts[kTooLate] +
                                counts[kDuplicates] + counts[kOverlaps] + counts[kNotFinite];
    const bool copies = has(FaultKind::kDuplicate) || has(FaultKind::kReplay);
    // A chunk that came late and was dropped with its round is counted both ways.
    if (!copies && heard > edge[EdgeCount::kOutputs] + edge[EdgeCount::kResends] + counts[kTooLate])
      fail("islands hear what their edges said", who);
    if (counts[kWhole] > counts[kPlaced]) fail("whole ones are placed", who);
    if (counts[kNotFinite] + counts[kUnknownBoot] != 0) fail("islands count what happened", who);
    if (!has(FaultKind::kRestart) && counts[kOverlaps] + counts[kRestarts] != 0)
      fail("sums overlap only after a restart", who);
    if (!spoils && counts[kMalformed] + counts[kUnexpected] != 0)
      fail("nothing is malformed where nothing is spoiled", who);
    if (!spoils && !has(FaultKind::kRestart) && counts[kForged] != 0)
      fail("nothing is forged where nothing is spoiled", who);
    const bool alive = !timing_.ever_dead(island);
    const auto restarts = timing_.restarts_noticed(island, swarm_.rounds);
    if (restarts && counts[kRestarts] != *restarts)
      fail("restarts are noticed", fmt::format("{}: {} of {}", who, counts[kRestarts], *restarts));
    if (counts[kUnmerged] != 0 && alive && !timing_.off_beat(island))
      fail("nothing is left unmerged", who);

    std::uint64_t due = 0, seen = 0;
    for (RoundId round = 1; round <= RoundId(swarm_.rounds); ++round) {
      if (!record(round, island).part.sends) continue;
      due += chunk_count(job_);
      for (ChunkId chunk = 0; chunk < chunk_count(job_); ++chunk) {
        const Record& own = record(round, island);
        const auto bit = ContributorMask(1) << unsigned(own.part.spec.own);
        const auto heard_by = [&](IslandId other) {
          return ((record(round, other).masks[chunk] | record(round, other).listed[chunk]) & bit) !=
                 0;
        };
        seen += std::any_of(own.part.clique.begin(), own.part.clique.end(), heard_by) ? 1 : 0;
      }
    }
    if (seen > sender.sent) fail("nobody hears what was not sent", who);
    if (sender.sent > due || (alive && !timing_.off_beat(island) && sender.sent != due))
      fail("islands send every chunk once", fmt::format("{}: {} of {}", who, sender.sent, due));
    if (sender.withheld + sender.forged + sender.unexpected + sender.resent != 0)
      fail("senders count what happened", who);
  }
}

}  // namespace cotillion::testing
