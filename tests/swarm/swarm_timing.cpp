#include "tests/swarm/swarm_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cotillion::testing {
namespace {

constexpr double kEver = std::numeric_limits<double>::infinity();
constexpr double kNanosecond = 1e3;
// Rounds are announced a little before they start, and senders let go of the one before then.
constexpr double kAnnounced = 1e8;

double ps(Instant when) {
  return double(when.ps);
}

// When a sum that is whole has its turn on the last hop: where rounds overlap, not before that of
// the round before has passed.
double turn_of(const RoundSpec& spec, double due) {
  if (spec.held_until == Instant{INT64_MIN}) return 0;
  return due - ps(spec.first_deadline) + ps(spec.held_until) + 1;
}

}  // namespace

SwarmTiming::SwarmTiming(const Modelled& network, const JobAssignment& assignment)
    : plan_(network.plan),
      assignment_(assignment),
      settings_(network.settings.islands.job_settings),
      overlapped_(network.plan.plan.overlapped) {
  const Map& map = plan_.map;
  const Bytes packet = Bytes{std::int64_t(payload_bytes(assignment.job()))} + assignment.framing();
  for (LaneId lane = 0; lane < map.lane_count(); ++lane)
    shortest_.push_back(double(lane_latency(map, lane).ps) +
                        transfer_time(packet, lane_rate(map, lane)).ps);
  longest_ = shortest_;
  for (double& rounded : longest_) rounded += 2;
  risks_.resize(longest_.size());
  clocks_.resize(map.islands.size());
  deaths_.resize(map.islands.size());
  restarts_.resize(map.islands.size());
  slow_.resize(map.islands.size());
  delays_.resize(longest_.size());
  for (const LaneFault& fault : network.settings.faults.lanes)
    for (const LaneId lane : fault.lanes) switch (fault.kind) {
        case Mishap::kLoss:
        case Mishap::kDown:
        case Mishap::kCorrupt:
        case Mishap::kTruncate:
          risks_[lane].push_back({double(fault.from.ps), double(fault.until.ps)});
          break;
        case Mishap::kReorder:
        case Mishap::kJitter:
          longest_[lane] += double(fault.by.ps);
          delays_[lane] = true;
          break;
        case Mishap::kDuplicate:
        case Mishap::kReplay:
          break;  // the first of two copies is not later for the second
      }
  for (const IslandFault& fault : network.settings.faults.islands) {
    const IslandId i = fault.island;
    switch (fault.kind) {
      case IslandFault::Kind::kDead:
        deaths_[i].push_back({double(fault.from.ps), double(fault.until.ps)});
        break;
      case IslandFault::Kind::kSlow:
        slow_[i].push_back({{double(fault.from.ps), double(fault.until.ps)}, double(fault.by.ps)});
        break;
      case IslandFault::Kind::kClock:
        clocks_[i] = {double(fault.by.ps), fault.drift};
        break;
      case IslandFault::Kind::kRestart:
        restarts_[i].push_back(double(fault.from.ps));
        break;
    }
  }
}

void SwarmTiming::note_queues(const Outcome& outcome) {
  for (const LaneOutcome& lane : outcome.lanes)
    longest_[lane.lane] += double(lane.queue_longest.ps);
}

bool SwarmTiming::off_beat(IslandId island) const {
  const Clock& clock = clocks_[island];
  return clock.ahead != 0 || clock.drift != 0 || !slow_[island].empty();
}

double SwarmTiming::to_true(IslandId island, double own) const {
  const Clock& clock = clocks_[island];
  return (own - clock.ahead - double(kOrigin.ps) * clock.drift) / (1 + clock.drift);
}

double SwarmTiming::opens(RoundId round) const {
  return ps(assignment_.start_of(round, Instant{0})) - kAnnounced;
}

bool SwarmTiming::dead_at(IslandId island, double when) const {
  const auto& all = deaths_[island];
  return std::any_of(all.begin(), all.end(), [&](const Span& span) {
    return span.from < when - 1 && when + 1 < span.until;
  });
}

bool SwarmTiming::dead_between(IslandId island, Span when) const {
  const auto& all = deaths_[island];
  return std::any_of(all.begin(), all.end(), [&](const Span& span) {
    return span.from <= when.until && when.from <= span.until;
  });
}

bool SwarmTiming::dead_in(RoundId round, IslandId island) const {
  return dead_between(island, {opens(round), closes_by(round, island)});
}

// Departures that may still be late, at the latest. Where rounds overlap, a stream that was late is
// cut when the next one is overdue, and so makes it late in turn.
double SwarmTiming::leaves_by(const RoundAssignment& part, IslandId sender, ChunkId chunk,
                              Span when) const {
  const double planned = departure(part, chunk);
  const double late = lateness(sender, overlapped_ ? Span{-kEver, when.until} : when);
  double leaves = std::max(planned, to_true(sender, planned + late));
  if (overlapped_ && late > 0) {
    const double cut = departure(part, 0) + double(SenderSettings{}.catch_up.ps);
    leaves = std::max(leaves, to_true(sender, cut + late));
  }
  return leaves + kNanosecond;
}

// A sender lets go of a round with the next one. Where rounds overlap and it keeps its time, the
// round has gone by then; otherwise it is cut when the next stream is due, or a third one known.
double SwarmTiming::lets_go(RoundId round, IslandId sender) const {
  if (!overlapped_) return opens(round + 1);
  if (!off_beat(sender)) return kEver;
  const RoundId period = RoundId(plan_.plan.rounds.size());
  const auto next_of = [&](RoundId before) {
    RoundId next = before + 1;
    while (next < before + period && !assignment_.part(next, sender, Instant{0}).sends) ++next;
    return next;
  };
  const RoundId next = next_of(round);
  const double due = departure(assignment_.part(next, sender, Instant{0}), 0);
  return std::min(to_true(sender, due), opens(next_of(next)));
}

// Whoever came back speaks under a new boot, and is believed once its heartbeat has come: before
// its chunks, unless that is lost or overtaken.
bool SwarmTiming::introduced(RoundId round, IslandId from, IslandId to, Span when) const {
  if (!dead_between(from, {-kEver, when.until})) return true;
  const Way whole = way(round, from, to, {-kEver, when.until});
  return !whole.risky && !whole.delayed;
}

// The most by which departures of a round may be late.
double SwarmTiming::lateness(IslandId island, Span when) const {
  double late = 0;
  for (const Slow& slow : slow_[island])
    if (slow.span.from <= when.until && when.from <= slow.span.until)
      late = std::max(late, slow.late);
  return late;
}

double SwarmTiming::departure(const RoundAssignment& part, ChunkId chunk) const {
  const Bytes wire = Bytes{std::int64_t(payload_bytes(assignment_.job()))} + assignment_.framing();
  return ps(part.stream.start + part.stream.offset) +
         transfer_time(wire, part.stream.rate).ps * double(chunk);
}

// A sender that was dead since its round was announced, even for a moment, has forgotten it.
bool SwarmTiming::can_have_left(RoundId round, IslandId sender, ChunkId chunk) const {
  const RoundAssignment part = assignment_.part(round, sender, Instant{0});
  const double leaves = to_true(sender, departure(part, chunk));
  return part.sends && !dead_between(sender, {opens(round) + kNanosecond, leaves - kNanosecond});
}

// An island whose clock is far ahead hears of a round when it is over already.
double SwarmTiming::closes_by(RoundId round, IslandId island) const {
  const RoundAssignment part = assignment_.part(round, island, Instant{0});
  const Instant last =
      std::max(part.receiver.merge_at, part.spec.last_deadline + part.receiver.grace);
  return std::max(opens(round), to_true(island, ps(last))) + kNanosecond;
}

double SwarmTiming::fragment_deadline(const RoundAssignment& part, int fragment) const {
  if (settings_.exchange == Exchange::kWhole) return ps(part.receiver.merge_at);
  const ChunkId last = first_chunk(assignment_.job(), fragment + 1) - 1;
  return std::max(ps(part.receiver.merge_at),
                  ps(chunk_deadline(part.spec, assignment_.job(), last) + part.receiver.grace));
}

bool SwarmTiming::risky(LaneId lane, Span when) const {
  const auto& spans = risks_[lane];
  return std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
    return span.from <= when.until && when.from < span.until;
  });
}

bool SwarmTiming::restarted(IslandId island, Span when) const {
  const auto& all = restarts_[island];
  return std::any_of(all.begin(), all.end(),
                     [&](double at) { return at >= when.from && at <= when.until; });
}

SwarmTiming::Way SwarmTiming::way(RoundId round, IslandId from, IslandId to, Span when) const {
  const PlannedRound& planned = plan_.plan.rounds[assignment_.phase_of(round)];
  for (const PlannedClique& clique : planned.cliques)
    for (const Stream& stream : clique.streams) {
      if (stream.sender != from) continue;
      const Route route = Route::of_stream(plan_.map, plan_.ingress, stream);
      std::vector<std::pair<const Route::Step*, Way>> open{{&route.first(), {}}};
      while (!open.empty()) {
        auto [step, way] = open.back();
        open.pop_back();
        const LaneId lane = step->lane;
        way.shortest += shortest_[lane];
        way.longest += longest_[lane];
        way.risky = way.risky || risky(step->lane, when);
        way.delayed = way.delayed || delays_[lane];
        const auto heard = step->heard_by();
        if (std::find(heard.begin(), heard.end(), to) != heard.end()) return way;
        for (const Route::Step& next : step->onward()) open.emplace_back(&next, way);
      }
    }
  return {kEver, kEver, true, true};
}

std::string SwarmTiming::hasty_deadline(RoundId round, IslandId island) const {
  const JobSpec& job = assignment_.job();
  const RoundAssignment part = assignment_.part(round, island, Instant{0});
  double last_hop = 0;
  for (const LaneId lane : plan_.ingress[island].lanes) last_hop += shortest_[lane];
  for (ChunkId chunk = 0; chunk < chunk_count(job); ++chunk) {
    const double due = ps(chunk_deadline(part.spec, job, chunk));
    for (std::size_t bit = 0; bit < part.clique.size(); ++bit) {
      if ((part.spec.expected >> bit & 1) == 0) continue;
      const RoundAssignment from = assignment_.part(round, part.clique[bit], Instant{0});
      const double comes =
          departure(from, chunk) + way(round, part.clique[bit], island, {}).shortest;
      if (due + kNanosecond < comes + double(settings_.grace.ps))
        return fmt::format("chunk {} of member {} is due at the edge {} after it comes", chunk, bit,
                           to_text(RealDuration::from_ps(due - comes)));
    }
    const double merged = fragment_deadline(part, fragment_of(job, chunk));
    if (part.sends && merged + kNanosecond < due + last_hop)
      return fmt::format("chunk {} leaves the edge {} before the merge, the last hop takes {}",
                         chunk, to_text(RealDuration::from_ps(merged - due)),
                         to_text(RealDuration::from_ps(last_hop)));
  }
  return {};
}

std::optional<std::uint64_t> SwarmTiming::restarts_noticed(IslandId island, int rounds) const {
  const auto& all = restarts_[island];
  const auto& lanes = plan_.ingress[island].lanes;
  const bool safe = std::all_of(lanes.begin(), lanes.end(), [&](LaneId lane) {
    return !risky(lane, {-kEver, kEver});
  });
  if (!safe || ever_dead(island) || all.size() > 1) return std::nullopt;
  // Those after the last round may come too late to be told.
  if (!all.empty() && all[0] >= ps(assignment_.start_of(RoundId(rounds), Instant{0})))
    return std::nullopt;
  return all.size();
}

// Those whom nothing on their way can silence, once they have spoken.
std::vector<SwarmTiming::Voice> SwarmTiming::safe_voices(RoundId round, IslandId to,
                                                         Span when) const {
  std::vector<Voice> voices;
  const RoundAssignment here = assignment_.part(round, to, Instant{0});
  for (const IslandId from : here.clique) {
    if (from == to || here.spec.expected == 0) continue;
    const Way its = way(round, from, to, when);
    if (its.risky || !introduced(round, from, to, when)) continue;
    voices.push_back({from, its, assignment_.part(round, from, Instant{0}), lets_go(round, from)});
  }
  return voices;
}

std::vector<SwarmTiming::Owed> SwarmTiming::owed(RoundId round, IslandId island) const {
  const JobSpec& job = assignment_.job();
  const RoundAssignment part = assignment_.part(round, island, Instant{0});
  std::vector<Owed> all(chunk_count(job));
  const Ingress& ingress = plan_.ingress[island];
  double last_hop = 0;
  for (const LaneId lane : ingress.lanes) last_hop += longest_[lane];
  const double start = ps(assignment_.start_of(round, Instant{0}));
  const double next = ps(assignment_.start_of(round + 1, Instant{0}));
  const Span round_lasts{start - 2 * kAnnounced,
                         std::max(closes_by(round, island), next) + last_hop};
  const auto risky_last_hop = [&](Span when) {
    return std::any_of(ingress.lanes.begin(), ingress.lanes.end(),
                       [&](LaneId lane) { return risky(lane, when); });
  };
  if (dead_between(island, round_lasts) || risky_last_hop(round_lasts)) return all;
  // After a restart an island is deaf to its edge until the new boot's announcement comes.
  if (restarted(island, {round_lasts.from - last_hop, round_lasts.until})) return all;
  if (restarted(island, {0, start}) && risky_last_hop({0, start})) return all;

  const std::vector<Voice> voices = safe_voices(round, island, round_lasts);
  for (ChunkId chunk = 0; chunk < all.size(); ++chunk) {
    const double due = ps(chunk_deadline(part.spec, job, chunk));
    ContributorMask safe = 0;
    double latest = 0;
    for (const Voice& voice : voices) {
      const double leaves = leaves_by(voice.part, voice.island, chunk, round_lasts);
      const double arrives = leaves + voice.way.longest;
      // Its next life may speak first, where the next tree is shorter.
      const double spoken = plan_.plan.settings.relax.routes ? arrives : leaves;
      if (dead_between(voice.island, {round_lasts.from, spoken})) continue;
      if (leaves >= voice.until || arrives >= due) continue;
      latest = std::max(latest, arrives);
      safe |= ContributorMask(1) << unsigned(voice.part.spec.own);
    }
    // What is not whole waits for its deadline.
    const double whole = std::max(latest, turn_of(part.spec, due));
    const double comes = (safe == part.spec.expected ? whole : due) + last_hop;
    const double merged = to_true(island, fragment_deadline(part, fragment_of(job, chunk)));
    if (comes < merged - kNanosecond) all[chunk].at_merge = safe;
    if (comes < closes_by(round, island) - 2 * kNanosecond) all[chunk].at_close = safe;
  }
  return all;
}

}  // namespace cotillion::testing
