#include "plan/planned_round.hpp"

#include <algorithm>
#include <cmath>

#include "base/wide.hpp"
#include "plan/certificate.hpp"

namespace cotillion {
namespace {

std::vector<Wait> waits_of(const std::vector<ChainStep>& steps, const Clique& clique) {
  std::vector<Wait> waits;
  for (const ChainStep& step : steps)
    waits.push_back(
        {clique.islands[step.leader], clique.islands[step.waiter], clique.islands[step.receiver]});
  return waits;
}

// Whose streams use a lane in this round.
std::vector<IslandId> senders_on(const RoundWays& ways, const Round& round, LaneId lane) {
  std::vector<IslandId> senders;
  for (std::size_t c = 0; c < round.cliques.size(); ++c)
    for (std::size_t j = 0; j < ways.cliques[c].size(); ++j) {
      const std::vector<LaneId>& tree = ways.cliques[c][j].route.tree;
      if (std::find(tree.begin(), tree.end(), lane) != tree.end())
        senders.push_back(round.cliques[c].islands[j]);
    }
  std::sort(senders.begin(), senders.end());
  return senders;
}

Binding binding_of(const NetworkModel& network, const Round& round, const PricedRound& priced,
                   std::size_t c) {
  const Clique& clique = round.cliques[c];
  const RateBound& bound = priced.rates.bounds[c];
  const CliquePrice& price = priced.prices[c];
  Binding binding;
  binding.lane = bound.lane;
  binding.lane_streams = bound.streams;
  binding.bound = bound.rate;
  if (!is_access(network.map(), bound.lane))
    binding.lane_senders = senders_on(priced.ways, round, bound.lane);
  if (!price.feasible) {
    binding.kind = Binding::Kind::kInfeasible;
    binding.cycle = waits_of(price.cycle, clique);
    binding.cycle_excess = price.cycle_excess;
    return binding;
  }
  if (price.throttled)
    binding.kind = Binding::Kind::kMemory;
  else if (is_access(network.map(), bound.lane))
    binding.kind = Binding::Kind::kAccess;
  else
    binding.kind = Binding::Kind::kLink;
  binding.chain = waits_of(price.chain, clique);
  binding.last_sender = clique.islands[price.last_sender];
  binding.last_receiver = clique.islands[price.last_receiver];
  return binding;
}

Stream stream_of(const NetworkModel& network, const Clique& clique, std::size_t sender,
                 const Way& way, RealDuration offset, BitsPerSecond rate) {
  Stream stream;
  stream.sender = clique.islands[sender];
  stream.offset = offset;
  stream.rate = rate;
  stream.payload = network.payload();
  stream.tree = way.route.tree;
  stream.copies = way.route.copies;
  for (std::size_t i = 0; i < clique.islands.size(); ++i)
    if (i != sender) stream.receivers.push_back({clique.islands[i], way.latency[i]});
  return stream;
}

PlannedClique planned_clique(const NetworkModel& network, const Round& round,
                             const PricedRound& priced, std::size_t c) {
  const Clique& clique = round.cliques[c];
  PlannedClique planned;
  planned.islands = clique.islands;
  planned.weights = clique.weights;
  // Only an edge needs to tell contributors apart.
  planned.runnable = clique.size() <= kCliqueMembersMax || !network.technology().aggregation;
  if (clique.size() == 1) return planned;

  const CliquePrice& price = priced.prices[c];
  planned.feasible = price.feasible;
  planned.binding = binding_of(network, round, priced, c);
  if (!price.feasible) return planned;
  planned.price = price.price;
  // Exactly the bound when nothing slows the clique down, not the bound after two divisions.
  planned.rate = price.throttled ? rate_of_pace(price.pace / network.wire_factor())
                                 : priced.rates.bounds[c].rate;
  planned.serialisation = RealDuration::from_ps(double(network.payload().count) * price.pace);
  for (std::size_t j = 0; j < clique.islands.size(); ++j)
    planned.streams.push_back(
        stream_of(network, clique, j, priced.ways.cliques[c][j], price.offsets[j], planned.rate));
  return planned;
}

// What edges and lanes carry in a round whose streams are known.
void account(const NetworkModel& network, const RoundRates& rates, PlannedRound& round) {
  const Map& map = network.map();
  const Bytes wire = wire_bytes(map.edge, network.payload());
  std::vector<LaneUse> use(map.lane_count());
  for (std::size_t c = 0; c < round.cliques.size(); ++c)
    for (const LaneLoad& load : rates.cliques[c]) {
      LaneUse& lane = use[load.lane];
      lane.streams += load.streams;
      lane.rate.value += load.streams * round.cliques[c].rate.value;
      const Int128 bytes = lane.bytes.count + Int128(load.streams) * wire.count;
      lane.bytes = {std::int64_t(std::min<Int128>(bytes, INT64_MAX))};
    }
  for (LaneId lane = 0; lane < map.lane_count(); ++lane)
    if (use[lane].streams > 0) {
      use[lane].lane = lane;
      round.lanes.push_back(use[lane]);
    }

  std::vector<double> held(map.aggregators.size(), 0);  // bytes of payload
  for (const PlannedClique& clique : round.cliques)
    for (const IslandId island : clique.islands)
      if (clique.islands.size() > 2 && network.aggregates(island))
        held[network.edge(island)] +=
            std::min(double(network.payload().count), edge_memory_needed(network, clique, island));
  for (std::size_t a = 0; a < held.size(); ++a) {
    const EdgeSpec& spec = map.aggregators[AggregatorId(a)].spec;
    const double slots = held[a] * double(spec.slot.count) / double(spec.chunk.count);
    if (network.technology().aggregation)
      round.edges.push_back({AggregatorId(a), Bytes{std::int64_t(std::ceil(slots))}});
  }
}

}  // namespace

PlannedRound planned_round(const NetworkModel& network, const Round& round,
                           const PricedRound& priced) {
  PlannedRound planned;
  for (std::size_t c = 0; c < round.cliques.size(); ++c) {
    planned.cliques.push_back(planned_clique(network, round, priced, c));
    planned.planned = std::max(planned.planned, planned.cliques.back().price);
  }
  account(network, priced.rates, planned);
  return planned;
}

Plan untimed_plan(const NetworkModel& network, const Schedule& schedule,
                  const PlanSettings& settings, const Mixing& mixing,
                  const std::vector<PricedRound>& rounds) {
  Plan plan;
  plan.schedule = schedule.name;
  plan.settings = settings;
  plan.network = network.settings();
  plan.mixing = mixing;
  for (std::size_t k = 0; k < rounds.size(); ++k) {
    plan.rounds.push_back(planned_round(network, schedule.rounds[k], rounds[k]));
    plan.round = std::max(plan.round, plan.rounds.back().planned);
    for (const PlannedClique& clique : plan.rounds.back().cliques) {
      plan.feasible = plan.feasible && clique.feasible;
      plan.runnable = plan.runnable && clique.runnable;
    }
  }
  return plan;
}

std::vector<int> payloads_sent(const NetworkModel& network, const Plan& plan) {
  std::vector<int> sent(network.map().islands.size(), 0);
  for (const PlannedRound& round : plan.rounds)
    for (const PlannedClique& clique : round.cliques)
      for (const Stream& stream : clique.streams) sent[stream.sender] += stream.copies.front();
  return sent;
}

}  // namespace cotillion
