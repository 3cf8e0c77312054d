#include "job/overlap_margins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/overlap.hpp"
#include "plan/steady_state.hpp"

namespace cotillion {
namespace {

constexpr double kSumsRounding = 16;       // ps; planned times are rounded sums
constexpr double kOverlapRounding = 1e-6;  // relative, of rates and memory

// An island's part in a round of the period, times from the period's start.
struct Turn {
  std::size_t round = 0;
  double copy = 0, sum = 0, passes = 0;
};

double period_of(const Plan& plan) {
  double period = 0;
  for (const PlannedRound& round : plan.rounds) period += round.length.ps;
  return period;
}

// By island, in order of rounds; the first of them again at the end, a period later.
IdVector<IslandId, std::vector<Turn>> turns_of(const Plan& plan) {
  IdVector<IslandId, std::vector<Turn>> turns;
  for (std::size_t k = 0; k < plan.rounds.size(); ++k)
    for (const PlannedClique& clique : plan.rounds[k].cliques)
      for (std::size_t i = 0; i < clique.streams.size(); ++i) {
        const double start = plan.rounds[k].start.ps;
        if (!turns.has(clique.islands[i])) turns.resize(std::size_t(clique.islands[i]) + 1);
        turns[clique.islands[i]].push_back({k, start + clique.streams[i].offset.ps,
                                            start + sum_begins(clique, i).ps,
                                            clique.serialisation.ps});
      }
  const double period = period_of(plan);
  for (auto& of_island : turns) {
    if (of_island.empty()) continue;
    Turn again = of_island.front();
    again.round += plan.rounds.size();
    again.copy += period;
    again.sum += period;
    of_island.push_back(again);
  }
  return turns;
}

// How long a copy waits for the merge of what it replaces, at the least; less than zero where it
// does not. `passed`: which share of a stream has passed when each fragment begins, and 1.
double margin_between(const Turn& turn, const Turn& next, const std::vector<double>& passed) {
  double least = next.copy - turn.sum;
  for (std::size_t f = 0; f + 1 < passed.size(); ++f)
    least = std::min(least,
                     next.copy + passed[f] * next.passes - turn.sum - passed[f + 1] * turn.passes);
  return least;
}

// Rounds are told of this long before they start.
Duration announced(const OverlapLateness& lateness) {
  return std::max(kAnnounced, lateness.grace);
}

// How much longer rounds must be for an island's stream to have left when the one after the next is
// announced: senders have two in hand.
double lacking_for_two_streams(const Plan& plan, const std::vector<Turn>& turns, Duration ahead) {
  const std::size_t count = turns.size() - 1, rounds = plan.rounds.size();
  const double period = period_of(plan);
  double lacking = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const std::size_t third = turns[(t + 2) % count].round + (t + 2) / count * rounds;
    const std::size_t periods = third / rounds;
    const double opens = plan.rounds[third % rounds].start.ps + double(periods) * period;
    lacking = std::max(lacking, (turns[t].copy + turns[t].passes + double(ahead.ps) - opens) /
                                    double(third - turns[t].round));
  }
  return lacking;
}

std::vector<double> equal_fragments(int fragments) {
  std::vector<double> passed;
  for (int f = 0; f <= fragments; ++f) passed.push_back(double(f) / fragments);
  return passed;
}

std::string round_name(const Plan& plan, std::size_t round) {
  return fmt::format("round {}", round % plan.rounds.size() + 1);
}

// Everything else trusts it.
Result<void> check_serialisation(const PlanFile& file) {
  const EdgeSpec& spec =
      file.map.aggregators.empty() ? file.map.edge : file.map.aggregators.front().spec;
  for (std::size_t k = 0; k < file.plan.rounds.size(); ++k)
    for (const PlannedClique& clique : file.plan.rounds[k].cliques)
      for (const Stream& stream : clique.streams) {
        const double passes = transfer_time(wire_bytes(spec, stream.payload), stream.rate).ps;
        if (std::fabs(passes - clique.serialisation.ps) > kOverlapRounding * passes)
          return failure(fmt::format(
              "a stream of {} in {} takes {} at its rate, not {} (serialisation_ms); plan again",
              file.map.islands[stream.sender].name, round_name(file.plan, k),
              to_text(RealDuration::from_ps(passes)), to_text(clique.serialisation)));
      }
  return {};
}

// When the last of a round has come, from its start.
RealDuration flight_of(const PlannedRound& round) {
  RealDuration last;
  for (const PlannedClique& clique : round.cliques)
    for (std::size_t i = 0; i < clique.streams.size(); ++i)
      last = std::max(last, sum_begins(clique, i) + clique.serialisation);
  return last;
}

Result<void> check_turns(const PlanFile& file) {
  const Plan& plan = file.plan;
  const std::vector<double> passed = equal_fragments(overlap_fragments(plan.settings));
  const auto turns = turns_of(plan);
  for (const IslandId i : turns.ids())
    for (std::size_t t = 0; t + 1 < turns[i].size(); ++t) {
      const Turn &turn = turns[i][t], &next = turns[i][t + 1];
      const std::string& name = file.map.islands[i].name;
      const std::string now = round_name(plan, turn.round), then = round_name(plan, next.round);
      if (turn.copy + turn.passes > next.copy + kSumsRounding)
        return failure(fmt::format(
            "{} is to begin its stream of {} {} before that of {} has left, and sends one after "
            "the other; make {} longer (length_ms), or plan again",
            name, then, to_text(RealDuration::from_ps(turn.copy + turn.passes - next.copy)), now,
            now));
      if (const double margin = margin_between(turn, next, passed); margin < -kSumsRounding)
        return failure(fmt::format(
            "{} is to copy a fragment for {} {} before it has merged that of {}; make {} longer "
            "(length_ms), or plan again",
            name, then, to_text(RealDuration::from_ps(-margin)), now, now));
    }
  return {};
}

Result<void> check_loads(const PlanFile& file, const IdVector<IslandId, double>& memory) {
  const PlanOnMap given{file.plan, file.map, file.ingress};
  const IdVector<LaneId, BitsPerSecond> peaks = lane_peaks(given);
  for (const LaneId lane : peaks.ids()) {
    const BitsPerSecond rate = lane_rate(file.map, lane);
    if (peaks[lane].value > rate.value * (1 + kOverlapRounding))
      return failure(fmt::format(
          "rounds that overlap bring {} to {:.4g} Gbps, and it has {:.4g}; make them longer "
          "(length_ms), their streams slower (rate_gbps), or plan again",
          lane_name(file.map, lane), peaks[lane].gbps(), rate.gbps()));
  }
  const IdVector<IslandId, double> held = edge_peaks(given);
  for (const IslandId i : memory.ids()) {
    double payload = 0;
    for (const PlannedRound& round : file.plan.rounds)
      for (const PlannedClique& clique : round.cliques)
        for (const Stream& stream : clique.streams) payload = double(stream.payload.count);
    if (held[i] <= memory[i] + payload * kOverlapRounding) continue;
    return failure(fmt::format(
        "rounds that overlap bring the edge of {} to {} of weights, and it has room for {}; give "
        "it more memory, make rounds longer (length_ms), or plan again with less (--memory)",
        file.map.islands[i].name, to_text(Bytes{std::llround(held[i])}),
        to_text(Bytes{std::int64_t(memory[i])})));
  }
  return {};
}

}  // namespace

Result<void> check_overlap(const PlanFile& plan, const IdVector<IslandId, double>& memory) {
  if (auto passes = check_serialisation(plan); !passes) return passes;
  if (auto turns = check_turns(plan); !turns) return turns;
  return check_loads(plan, memory);
}

Duration overlap_stretch(const Plan& plan, const JobSpec& job, const OverlapLateness& lateness) {
  std::vector<double> passed;
  for (int f = 0; f <= job.fragments; ++f)
    passed.push_back(double(first_chunk(job, f)) / double(chunk_count(job)));
  const double needed = double((lateness.hops + lateness.grace + lateness.grace).ps);
  double stretch = 0;
  for (const auto& turns : turns_of(plan)) {
    if (turns.empty()) continue;
    stretch = std::max(stretch, lacking_for_two_streams(plan, turns, announced(lateness)));
    for (std::size_t t = 0; t + 1 < turns.size(); ++t)
      stretch = std::max(stretch, (needed - margin_between(turns[t], turns[t + 1], passed)) /
                                      double(turns[t + 1].round - turns[t].round));
  }
  return {std::int64_t(std::ceil(stretch))};
}

Result<int> live_rounds(const PlanFile& file, Duration stretch, const OverlapLateness& lateness) {
  const Plan& plan = file.plan;
  const double later =
      double((lateness.hops + lateness.grace + lateness.grace).ps) + double(announced(lateness).ps);
  int live = 2;
  for (std::size_t k = 0; k < plan.rounds.size(); ++k) {
    const RealDuration flies = flight_of(plan.rounds[k]);
    double takes = 0;
    int needed = 0;
    while (needed < kLiveRoundsMost && (needed < 2 || takes < flies.ps + later))
      takes += plan.rounds[(k + std::size_t(needed++)) % plan.rounds.size()].length.ps +
               double(stretch.ps);
    live = std::max(live, needed);
    if (takes < flies.ps + later)
      return failure(fmt::format(
          "{} has come only {} after its start, hops and grace included, when {} rounds more have "
          "begun; nobody keeps more than {} at once. Make rounds longer (length_ms), or plan with "
          "fewer that overlap",
          round_name(plan, k), to_text(RealDuration::from_ps(flies.ps + later)), kLiveRoundsMost,
          kLiveRoundsMost));
  }
  return live;
}

}  // namespace cotillion
