// What must be as planned where nothing goes wrong: arrivals, rounds, queues, what edges hold and
// the staleness that copies and merges amount to, each but for the time of whole packets at hops.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "job/outcome_file.hpp"
#include "plan/replay.hpp"
#include "plan/steady_state.hpp"
#include "tests/swarm/swarm_checks.hpp"

namespace cotillion::testing {
namespace {

constexpr double kMicro = 1e6;  // picoseconds

std::string text_of(double ps) {
  return to_text(RealDuration::from_ps(ps));
}

// The plan with its rounds as they are laid out: each as much longer as whole packets need.
Plan as_laid_out(const Plan& plan, const JobAssignment& assignment) {
  Plan laid = plan;
  for (std::size_t k = 0; k < laid.rounds.size(); ++k) {
    laid.rounds[k].start = assignment.start_of(RoundId(k + 1), Instant{0}) - Instant{0};
    laid.rounds[k].length =
        assignment.start_of(RoundId(k + 2), Instant{0}) - assignment.start_of(RoundId(k + 1), {0});
  }
  laid.settings.fragments = assignment.job().fragments;
  return laid;
}

}  // namespace

Bytes SwarmChecks::packet() const {
  return Bytes{std::int64_t(payload_bytes(job_))} + assignment_.framing();
}

// Heartbeats and ENDs travel among the chunks, where they have a size at all. No plan counts them.
double SwarmChecks::announcements() const {
  const double framing = double(assignment_.framing().count);
  return framing == 0 ? 0 : 4 * (double(kBeatBytes) + 2 * framing) / double(packet().count);
}

double SwarmChecks::later_at_most() const {
  const Map& map = network_.plan.map;
  double last_hop = 0;
  for (const Ingress& ingress : network_.plan.ingress) {
    double lanes = 0;
    for (const LaneId lane : ingress.lanes)
      lanes += islands() * transfer_time(packet(), lane_rate(map, lane)).ps;
    last_hop = std::max(last_hop, lanes);
  }
  return (double(assignment_.hops_max().ps) + last_hop) * (1 + announcements()) + kMicro;
}

// Grace must be enough for them. Where rounds overlap lanes may never rest, and what announcements
// add in each round is still there in the next.
bool SwarmChecks::announcements_fit() const {
  const int rounds = network_.plan.plan.overlapped ? swarm_.rounds : 1;
  return double(assignment_.hops_max().ps) * announcements() * rounds <= double(swarm_.grace.ps);
}

void SwarmChecks::check_nothing_wrong(const Outcome& outcome) {
  if (!announcements_fit()) return;
  if (!holds(outcome)) {
    std::string what;
    for (const EdgeOutcome& edge : outcome.edges)
      what +=
          fmt::format("{}: {} timeouts, {} conflicts; ", edge.island,
                      edge.counters[EdgeCount::kTimeouts], edge.counters[EdgeCount::kConflicts]);
    return fail("without faults plans hold", what);
  }
  check_whole(outcome);
  for (const RoundOutcome& round : outcome.rounds) check_round_time(round);
  check_arrivals(outcome);
  check_memory(outcome);
  check_queues(outcome);
  check_staleness(outcome);
}

void SwarmChecks::check_whole(const Outcome& outcome) {
  const Map& map = network_.plan.map;
  for (const IslandId i : outcome.receivers.ids()) {
    const ReceiverCounters& counts = outcome.receivers[i];
    for (const ReceiverCount odd : {ReceiverCount::kLate, ReceiverCount::kAsked,
                                    ReceiverCount::kDuplicates, ReceiverCount::kOvertaken})
      if (counts[odd] != 0)
        fail("without faults every chunk comes whole and once",
             fmt::format("{}: {} {}", map.islands[i].name, counts[odd], name_of(odd)));
    if (counts[ReceiverCount::kPlaced] != counts[ReceiverCount::kWhole])
      fail("without faults every chunk comes whole and once",
           fmt::format("{}: {} placed", map.islands[i].name, counts[ReceiverCount::kPlaced]));
    if (outcome.senders[i].slipped_ps != 0)
      fail("without faults streams keep their time", map.islands[i].name);
  }
}

void SwarmChecks::check_round_time(const RoundOutcome& round) {
  const PlannedRound& planned = network_.plan.plan.rounds[assignment_.phase_of(round.round)];
  for (std::size_t c = 0; c < round.cliques.size(); ++c) {
    const CliqueOutcome& clique = round.cliques[c];
    if (clique.islands.size() < 2) continue;
    const double later = double((clique.measured - clique.planned).ps);
    const double most = later_at_most();
    const double least = -transfer_time(packet(), planned.cliques[c].rate).ps - kMicro;
    if (later > most || later < least)
      fail("without faults rounds take as long as planned",
           fmt::format("round {}, clique {}: later by {}, at most {}, at least {}", round.round, c,
                       text_of(later), text_of(most), text_of(least)));
  }
}

// Plans are fluid: the last packet leaves whole when its first byte is due.
void SwarmChecks::check_arrivals(const Outcome& outcome) {
  for (const RoundOutcome& round : outcome.rounds)
    for (std::size_t c = 0; c < round.cliques.size(); ++c)
      for (const ArrivalOutcome& arrival : round.cliques[c].arrivals) {
        const PlannedRound& planned = network_.plan.plan.rounds[assignment_.phase_of(round.round)];
        const double later = double((arrival.measured - arrival.planned).ps);
        const double least = -transfer_time(packet(), planned.cliques[c].rate).ps - kMicro;
        if (later <= later_at_most() && later >= least) continue;
        fail("without faults streams arrive as planned",
             fmt::format("round {}, from {} to {}: {} and planned for {}", round.round,
                         arrival.sender, arrival.receiver, to_text(arrival.measured),
                         to_text(arrival.planned)));
      }
}

// In slots: what the plan's fluid streams hold, and for every round under way a packet at either
// end and what comes while others are late.
void SwarmChecks::check_memory(const Outcome& outcome) {
  const PlanFile& plan = network_.plan;
  BitsPerSecond fastest{1};
  for (const PlannedRound& round : plan.plan.rounds)
    for (const PlannedClique& clique : round.cliques) fastest = std::max(fastest, clique.rate);
  const double late = later_at_most() / transfer_time(packet(), fastest).ps;
  const IdVector<IslandId, double> held = edge_peaks({plan.plan, plan.map, plan.ingress});
  for (const EdgeOutcome& edge : outcome.edges) {
    const EdgeSpec& spec = plan.map.aggregators[plan.ingress[edge.island].edge].spec;
    const double most =
        held[edge.island] / double(spec.chunk.count) + assignment_.live_rounds() * (late + 2);
    const double peak = double(edge.memory_peak.count) / double(spec.slot.count);
    if (peak > most)
      fail("without faults edges hold what is planned",
           fmt::format("{}: {} slots, at most {:.1f}", plan.map.islands[edge.island].name, peak,
                       most));
  }
}

// A lane that more were planned on than it carries would have a queue that grows.
void SwarmChecks::check_queues(const Outcome& outcome) {
  for (const LaneOutcome& lane : outcome.lanes)
    if (double(lane.queue_longest.ps) > later_at_most())
      fail("without faults lanes carry what is planned",
           fmt::format("{}: a queue of {}, at most {}", lane_name(network_.plan.map, lane.lane),
                       to_text(lane.queue_longest), text_of(later_at_most())));
}

void SwarmChecks::check_staleness(const Outcome& outcome) {
  if (!outcome.exact || !outcome.exact->lived) return;
  ++tally_.counted;
  const auto planned = exact_staleness(islands(), as_laid_out(network_.plan.plan, assignment_));
  double chunk = 0;  // fragments are whole chunks
  for (const PlannedRound& round : network_.plan.plan.rounds)
    for (const PlannedClique& clique : round.cliques)
      if (!clique.streams.empty()) chunk = std::max(chunk, transfer_time(packet(), clique.rate).ps);
  const auto compare = [&](Objective objective, RealDuration seen) {
    const double right = planned[std::size_t(objective)].ps;
    const double most = later_at_most() + 2 * chunk + 0.002 * right;
    if (std::fabs(seen.ps - right) > most)
      fail("without faults staleness is as planned",
           fmt::format("{}: {} and should be {}, give or take {}", to_name(objective),
                       to_text(seen), text_of(right), text_of(most)));
  };
  const bool streamed = swarm_.exchange == Exchange::kStreamed;
  const ExactStaleness& lived = *outcome.exact->lived;
  compare(streamed ? Objective::kPaperStreamed : Objective::kPaper, lived.absolute);
  compare(streamed ? Objective::kSquaredStreamed : Objective::kSquared, lived.squared);
}

}  // namespace cotillion::testing
