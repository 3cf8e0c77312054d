#include "job/job_assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "job/overlap_margins.hpp"
#include "plan/overlap.hpp"

namespace cotillion {
namespace {

constexpr Duration kSameInstant{1'000};  // planned times are rounded sums

// The island's share of its edge.
EdgeSpec share_of(const Map& map, IslandId island, std::optional<Bytes> memory) {
  for (const Aggregator& aggregator : map.aggregators)
    if (std::find(aggregator.serves.begin(), aggregator.serves.end(), island) !=
        aggregator.serves.end()) {
      EdgeSpec share = aggregator.spec;
      share.memory = memory.value_or(share.memory);
      share.memory = share.memory / std::int64_t(aggregator.serves.size());
      return share;
    }
  return map.edge;
}

Result<JobSpec> job_of(const Map& map, const Plan& plan, const JobSettings& settings) {
  const EdgeSpec& spec = map.aggregators.empty() ? map.edge : map.aggregators.front().spec;
  for (const Aggregator& aggregator : map.aggregators)
    if (aggregator.spec.chunk != spec.chunk || aggregator.spec.framing != spec.framing)
      return failure("edges disagree about chunk or framing; packets of one job are all alike");
  if (spec.chunk.count % std::int64_t(kBeatBytes) != 0)
    return failure(
        fmt::format("chunks of {} are no whole beats of {} bytes; set edge.chunk to a "
                    "multiple",
                    to_text(spec.chunk), kBeatBytes));
  Bytes payload{0};
  for (const PlannedRound& round : plan.rounds)
    for (const PlannedClique& clique : round.cliques)
      for (const Stream& stream : clique.streams) payload = stream.payload;
  if (payload.count == 0) return failure("nobody sends anything in this plan");
  const auto each = std::int64_t(bytes_of(settings.element));
  if (payload.count % each != 0)
    return failure(fmt::format("a payload of {} bytes is no whole number of {} elements",
                               payload.count, name_of(settings.element)));
  return checked({.id = settings.job,
                  .element = settings.element,
                  .elements = std::uint64_t(payload.count / each),
                  .beats = int(spec.chunk.count / std::int64_t(kBeatBytes)),
                  .fragments = settings.exchange == Exchange::kWhole ? 1 : settings.fragments});
}

}  // namespace

Result<JobAssignment> JobAssignment::make(const PlanFile& file, const JobSettings& settings) {
  const Map& map = file.map;
  const Plan& plan = file.plan;
  if (!plan.feasible)
    return failure(
        "the plan is infeasible: it has no rates and no rounds that could be played. Plan with "
        "more "
        "memory; `simulate --memory` then shows what happens on edges that have less");
  if (!plan.runnable)
    return failure(
        fmt::format("a clique of the plan has more than {} members; packets have no "
                    "bits for them",
                    kCliqueMembersMax));
  for (const PlannedRound& round : plan.rounds)
    for (const PlannedClique& clique : round.cliques)
      if (!clique.weights.empty())
        return failure(
            "the plan has cliques with weights of their own; they are priced, not played yet");
  if (plan.overlapped && settings.exchange == Exchange::kWhole)
    return failure(
        fmt::format("the plan's rounds overlap, so that fragments are copied and merged one by "
                    "one; play it with --exchange streamed --fragments {}",
                    overlap_fragments(plan.settings)));
  auto job = job_of(map, plan, settings);
  if (!job) return Unexpected<Error>{job.error()};
  JobAssignment assignment(file, settings);
  assignment.job_ = *job;
  assignment.measure_hops();
  if (auto laid = assignment.lay_rounds(file); !laid) return Unexpected<Error>{laid.error()};
  assignment.size_slots();
  if (plan.overlapped) assignment.note_ends();
  return assignment;
}

JobAssignment::JobAssignment(const PlanFile& plan, const JobSettings& settings)
    : map_(plan.map),
      plan_(plan.plan),
      ingress_(plan.ingress),
      settings_(settings),
      groups_(plan.plan) {
  framing_ = map_.aggregators.empty() ? map_.edge.framing : map_.aggregators.front().spec.framing;
}

// A plan's streams are fluid. Whole packets come a little later, and a round must not end before
// they have; where rounds overlap, no fragment be copied again before it was merged.
Result<void> JobAssignment::lay_rounds(const PlanFile& file) {
  const OverlapLateness lateness{hops_max_ + last_hops_max_, settings_.grace};
  const Duration needed = lateness.hops + lateness.grace + lateness.grace;
  if (plan_.overlapped) {
    IdVector<IslandId, double> memory;
    for (IslandId island{0}; island < map_.island_count() && !settings_.memory; ++island)
      memory.push_back(double(reorder_window(share_of(map_, island, {})).count));
    if (auto sound = check_overlap(file, memory); !sound) return sound;
    added_slack_ = overlap_stretch(plan_, job_, lateness);
    const auto live = cotillion::live_rounds(file, added_slack_, lateness);
    if (!live) return Unexpected<Error>{live.error()};
    live_rounds_ = *live;
    slack_ = needed;
  } else {
    added_slack_ = std::max(Duration{0}, needed - rounded(plan_.settings.slack));
    slack_ = rounded(plan_.settings.slack) + added_slack_;
  }
  Instant start{0};
  for (const PlannedRound& round : plan_.rounds) {
    starts_.push_back(start);
    start = start + rounded(round.length) + added_slack_;
  }
  period_ = start - Instant{0};
  return {};
}

Instant JobAssignment::start_of(RoundId round, Instant origin) const {
  const auto cycles = std::int64_t((round - 1) / starts_.size());
  return origin + Duration{cycles * period_.ps} + (starts_[phase_of(round)] - Instant{0});
}

Instant JobAssignment::over(RoundId round, Instant origin) const {
  return over_.empty() ? start_of(round + 1, origin)
                       : start_of(round, origin) + over_[phase_of(round)];
}

void JobAssignment::note_ends() {
  for (std::size_t phase = 0; phase < plan_.rounds.size(); ++phase) {
    const RoundId round = RoundId(phase + 1);
    const Instant start = start_of(round, {0});
    Instant last = start;
    for (IslandId island{0}; island < map_.island_count(); ++island) {
      const RoundAssignment its = part(round, island, {0});
      if (its.spec.expected != 0)
        last = std::max(last, its.spec.last_deadline + its.receiver.grace);
    }
    over_.push_back(last - start);
  }
}

// In a round; where rounds overlap those of its neighbours, too.
int JobAssignment::streams_on(std::size_t phase, LaneId lane) const {
  const auto in = [&](std::size_t round) {
    const std::vector<LaneUse>& lanes = plan_.rounds[round % plan_.rounds.size()].lanes;
    const auto use = std::find_if(lanes.begin(), lanes.end(),
                                  [&](const LaneUse& other) { return other.lane == lane; });
    return use == lanes.end() ? 0 : use->streams;
  };
  const int beside =
      plan_.overlapped ? std::max(in(phase + 1), in(phase + plan_.rounds.size() - 1)) : 0;
  return std::max(1, in(phase) + beside);
}

// Every lane holds a whole packet before it passes it on, and may let one packet of each other
// stream go first.
Duration JobAssignment::hops_of(std::size_t phase, const std::vector<LaneId>& lanes) const {
  const Bytes wire = Bytes{std::int64_t(payload_bytes(job_))} + framing_;
  double longest = 0;
  for (const LaneId lane : lanes)
    longest += streams_on(phase, lane) * transfer_time(wire, lane_rate(map_, lane)).ps;
  return {std::llround(longest)};
}

void JobAssignment::measure_hops() {
  for (std::size_t phase = 0; phase < plan_.rounds.size(); ++phase)
    for (const PlannedClique& clique : plan_.rounds[phase].cliques) {
      for (const Stream& stream : clique.streams)
        hops_max_ = std::max(hops_max_, hops_of(phase, stream.tree));
      for (const IslandId island : clique.islands)
        last_hops_max_ = std::max(last_hops_max_, hops_of(phase, ingress_[island].lanes));
    }
}

// Two rounds are neighbours in the ring of slots: what an edge holds of both, at most its memory,
// lies in one run.
void JobAssignment::size_slots() {
  slots_.assign(map_.islands.size(), 1);
  const int rounds = plan_.overlapped ? 2 : 1;
  for (std::size_t phase = 0; phase < plan_.rounds.size(); ++phase)
    for (const PlannedClique& clique : plan_.rounds[phase].cliques) {
      Duration hops{0};
      for (const Stream& stream : clique.streams)
        hops = std::max(hops, hops_of(phase, stream.tree));
      for (const IslandId island : clique.islands) {
        const std::size_t wanted = slot_count(share_of(map_, island, settings_.memory),
                                              rounds * (int(clique.islands.size()) - 1),
                                              clique.rate, hops + settings_.grace);
        // No chunks of the rounds that are alive need more.
        const std::size_t most = std::size_t(live_rounds_) * chunk_count(job_);
        slots_[island] = std::max(slots_[island], std::min(wanted, most));
      }
    }
}

RoundAssignment JobAssignment::part(RoundId round, IslandId island, Instant origin) const {
  const std::size_t phase = phase_of(round);
  const PlannedRound& planned = plan_.rounds[phase];
  const auto clique = std::find_if(
      planned.cliques.begin(), planned.cliques.end(), [&](const PlannedClique& candidate) {
        return std::binary_search(candidate.islands.begin(), candidate.islands.end(), island);
      });
  COTILLION_CHECK(clique != planned.cliques.end());
  const auto own = int(std::lower_bound(clique->islands.begin(), clique->islands.end(), island) -
                       clique->islands.begin());
  const Instant start = start_of(round, origin);
  RoundAssignment part;
  part.start = start;
  part.clique = clique->islands;
  part.spec = equal_round(round, int(clique->islands.size()), own);
  part.spec.clique = int(clique - planned.cliques.begin());
  const Ingress& ingress = ingress_[island];
  Duration latest{0}, last{0};  // arrival at the edge with whole packets; at the island without
  for (std::size_t bit = 0; bit < clique->islands.size(); ++bit)
    part.spec.source[bit] = source_of(clique->islands[bit]);
  for (const Stream& stream : clique->streams) {
    const Duration hops = hops_of(phase, stream.tree);
    for (const Arrival& arrival : stream.receivers)
      if (arrival.receiver == island) {
        last = std::max(last, rounded(stream.offset) + arrival.latency);
        latest =
            std::max(latest, rounded(stream.offset) + arrival.latency - ingress.latency + hops);
      }
    if (stream.sender != island) continue;
    part.sends = true;
    part.stream = {.round = round,
                   .clique = part.spec.clique,
                   .bit = own,
                   .weight_sum = std::uint32_t(clique->islands.size()),
                   .start = start,
                   .offset = rounded(stream.offset),
                   .rate = stream.rate,
                   .follows = plan_.overlapped};
  }
  const Bytes wire = Bytes{std::int64_t(payload_bytes(job_))} + framing_;
  const double pace = clique->rate.value > 0 ? transfer_time(wire, clique->rate).ps : 0;
  part.spec.first_deadline = start + latest + settings_.grace;
  if (!clique->sums.empty() && rounded(clique->sums[std::size_t(own)]) > last + kSameInstant) {
    // The sum of the round before is on that hop until then.
    part.spec.held_until = start + rounded(clique->sums[std::size_t(own)]) - ingress.latency;
    part.spec.first_deadline = std::max(part.spec.first_deadline, part.spec.held_until);
  }
  part.spec.last_deadline =
      part.spec.first_deadline + Duration{std::llround(pace * (chunk_count(job_) - 1.0))};
  const Instant end = start_of(round + 1, origin);
  part.receiver = {part.spec, settings_.exchange == Exchange::kWhole ? end : start,
                   ingress.latency + hops_of(phase, ingress.lanes) + settings_.grace};
  return part;
}

}  // namespace cotillion
