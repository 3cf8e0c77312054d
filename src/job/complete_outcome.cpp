#include "job/complete_outcome.hpp"

#include <algorithm>
#include <map>

#include "base/check.hpp"
#include "base/wide.hpp"
#include "job/attribution.hpp"
#include "job/realised_mixing.hpp"

namespace cotillion {
namespace {

const PlannedRound& plan_of(const PlanFile& plan, RoundId round) {
  return plan.plan.rounds[(round - 1) % plan.plan.rounds.size()];
}

// What a round of the plan does to everyone's state.
std::vector<double> planned_mixing(const PlannedRound& round, std::size_t n) {
  std::vector<double> mixing(n * n, 0);
  for (const PlannedClique& clique : round.cliques) {
    const std::size_t members = clique.islands.size();
    for (std::size_t i = 0; i < members; ++i)
      for (std::size_t j = 0; j < members; ++j)
        mixing[std::size_t(clique.islands[i]) * n + std::size_t(clique.islands[j])] =
            clique.weights.empty() ? 1.0 / double(members) : clique.weights[i * members + j];
  }
  return mixing;
}

double planned_loss(const PlanFile& plan, const std::vector<RoundOutcome>& played) {
  const std::size_t n = plan.map.islands.size();
  std::vector<std::vector<double>> rounds;
  for (const RoundOutcome& round : played)
    rounds.push_back(planned_mixing(plan_of(plan, round.round), n));
  return realised_loss(rounds, int(n)).total;
}

// With those that should have carried something and did not.
std::vector<LaneOutcome> with_planned_bytes(const PlanFile& plan, const Outcome& seen) {
  std::map<LaneId, LaneOutcome> lanes;
  for (const LaneOutcome& lane : seen.lanes) lanes.emplace(lane.lane, lane);
  for (auto& [id, lane] : lanes) lane.bytes_planned = {};
  for (const RoundOutcome& round : seen.rounds)
    for (const LaneUse& use : plan_of(plan, round.round).lanes) {
      LaneOutcome& lane = lanes[use.lane];
      lane.lane = use.lane;
      const Int128 bytes = Int128(lane.bytes_planned.count) + use.bytes.count;
      lane.bytes_planned = {std::int64_t(std::min<Int128>(bytes, INT64_MAX))};
    }
  std::vector<LaneOutcome> list;
  for (const auto& [id, lane] : lanes) list.push_back(lane);
  return list;
}

}  // namespace

Outcome complete_outcome(const PlanFile& plan, Outcome seen) {
  const std::size_t islands = plan.map.islands.size();
  COTILLION_CHECK(seen.edges.size() == islands);
  for (const RoundOutcome& round : seen.rounds) COTILLION_CHECK(round.round > 0);
  seen.receivers.resize(islands);
  seen.senders.resize(islands);
  seen.steps.resize(islands);
  seen.lanes = with_planned_bytes(plan, seen);
  seen.planned_loss = planned_loss(plan, seen.rounds);
  attribute(plan, seen);
  return seen;
}

RoundOutcome planned_round(const PlanFile& plan, RoundId round) {
  const PlannedRound& planned = plan_of(plan, round);
  RoundOutcome outcome;
  outcome.round = round;
  outcome.planned = rounded(planned.planned);
  for (const PlannedClique& clique : planned.cliques)
    outcome.cliques.push_back({clique.islands, rounded(clique.price), {}, true, {}});
  return outcome;
}

// An edge's peak is the plan's for all islands it serves together.
IdVector<IslandId, EdgeOutcome> planned_edges(const PlanFile& plan, std::size_t rounds) {
  IdVector<IslandId, EdgeOutcome> edges(plan.map.islands.size());
  for (const IslandId island : edges.ids()) edges[island].island = island;
  for (std::size_t phase = 0; phase < std::min(plan.plan.rounds.size(), rounds); ++phase)
    for (const EdgeUse& use : plan.plan.rounds[phase].edges)
      for (const IslandId island : plan.map.aggregators[use.aggregator].serves) {
        Bytes& planned = edges[island].memory_planned;
        planned = std::max(planned, use.memory_peak);
      }
  return edges;
}

Duration due_at_edge(const PlanFile& plan, const Stream& stream, const Arrival& arrival) {
  const Duration flight = arrival.latency - plan.ingress[arrival.receiver].latency;
  const Bytes wire = wire_bytes(plan.map.aggregators.front().spec, stream.payload);
  return rounded(stream.offset + RealDuration(flight) + transfer_time(wire, stream.rate));
}

}  // namespace cotillion
