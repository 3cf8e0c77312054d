// The paper's five steps for one schedule: route and share (streams), price each clique
// (clique_price), take the dearest as T, score (mixing, objective); then the certificate.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "base/wide.hpp"
#include "plan/certificate.hpp"
#include "plan/clique_price.hpp"
#include "plan/plan.hpp"
#include "plan/streams.hpp"

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
std::vector<IslandId> senders_on(const NetworkModel& network, const Round& round, LaneId lane) {
  std::vector<IslandId> senders;
  for (const Clique& clique : round.cliques)
    for (int j = 0; j < clique.size() && clique.size() > 1; ++j) {
      const StreamRoute route = route_stream(network, clique, j);
      if (std::find(route.tree.begin(), route.tree.end(), lane) != route.tree.end())
        senders.push_back(clique.islands[j]);
    }
  std::sort(senders.begin(), senders.end());
  return senders;
}

Binding binding_of(const NetworkModel& network, const Round& round, const Clique& clique,
                   const RateBound& bound, const CliquePrice& price) {
  Binding binding;
  binding.lane = bound.lane;
  binding.lane_streams = bound.streams;
  binding.bound = bound.rate;
  if (!is_access(network.map(), bound.lane))
    binding.lane_senders = senders_on(network, round, bound.lane);
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

Stream stream_of(const NetworkModel& network, const Clique& clique, int sender, RealDuration offset,
                 BitsPerSecond rate) {
  Stream stream;
  stream.sender = clique.islands[sender];
  stream.offset = offset;
  stream.rate = rate;
  stream.payload = network.payload();
  StreamRoute route = route_stream(network, clique, sender);
  stream.tree = std::move(route.tree);
  stream.copies = std::move(route.copies);
  for (const IslandId receiver : clique.islands)
    if (receiver != stream.sender)
      stream.receivers.push_back({receiver, network.latency(receiver, stream.sender)});
  return stream;
}

PlannedClique plan_clique(const NetworkModel& network, const Round& round, const Clique& clique,
                          const RateBound& bound, PriceScratch& scratch) {
  PlannedClique planned;
  planned.islands = clique.islands;
  planned.weights = clique.weights;
  // Only an edge needs to tell contributors apart.
  planned.runnable = clique.size() <= kCliqueMembersMax || !network.technology().aggregation;
  if (clique.size() == 1) return planned;

  Demand demand;
  demand.payload = double(network.payload().count);
  demand.pace_least = ps_per_byte(bound.rate) * network.wire_factor();
  for (const IslandId island : clique.islands) demand.memory.push_back(network.memory(island));
  CliqueLatencies latencies;
  network.latencies(clique, latencies);
  const CliquePrice price = price_clique(latencies, demand, scratch);

  planned.feasible = price.feasible;
  planned.binding = binding_of(network, round, clique, bound, price);
  if (!price.feasible) return planned;
  planned.price = price.price;
  // Exactly the bound when nothing slows the clique down, not the bound after two divisions.
  planned.rate = price.throttled ? rate_of_pace(price.pace / network.wire_factor()) : bound.rate;
  planned.serialisation = RealDuration::from_ps(demand.payload * price.pace);
  for (int j = 0; j < clique.size(); ++j)
    planned.streams.push_back(stream_of(network, clique, j, price.offsets[j], planned.rate));
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
    const EdgeSpec& spec = map.aggregators[a].spec;
    const double slots = held[a] * double(spec.slot.count) / double(spec.chunk.count);
    if (network.technology().aggregation)
      round.edges.push_back({AggregatorId(a), Bytes{std::int64_t(std::ceil(slots))}});
  }
}

// d: from a fragment's snapshot to its merge. An island's own surplus weight on its own
// generation lasts until it merges too, so the island itself counts among the senders.
RealDuration delay_when_streamed(const Plan& plan) {
  double longest = 0;
  for (const PlannedRound& round : plan.rounds)
    for (const PlannedClique& clique : round.cliques) {
      double first = std::numeric_limits<double>::infinity(), last = 0;
      for (const Stream& stream : clique.streams) {
        first = std::min(first, stream.offset.ps);
        for (const Arrival& arrival : stream.receivers)
          last = std::max(last, stream.offset.ps + double(arrival.latency.ps));
      }
      if (clique.streams.empty()) continue;
      longest = std::max(longest, last - first + clique.serialisation.ps / plan.settings.fragments);
    }
  return RealDuration::from_ps(longest);
}

// Copies of the payload that each island emits in a period.
std::vector<int> payloads_sent(const NetworkModel& network, const Plan& plan) {
  std::vector<int> sent(network.map().islands.size(), 0);
  for (const PlannedRound& round : plan.rounds)
    for (const PlannedClique& clique : round.cliques)
      for (const Stream& stream : clique.streams) sent[stream.sender] += stream.copies.front();
  return sent;
}

}  // namespace

RealDuration round_length(RealDuration round, const PlanSettings& settings) {
  const RealDuration length = round + settings.slack;
  const double step = settings.step_time.ps;
  if (!settings.whole_steps || step <= 0) return length;
  return RealDuration::from_ps(std::ceil(length.ps / step) * step);
}

RealDuration round_length(const NetworkModel& network, const PlanSettings& settings,
                          RealDuration round, const std::vector<int>& sent, int period) {
  const double wire = double(wire_bytes(network.map().edge, network.payload()).count);
  RealDuration needed = round;
  for (std::size_t i = 0; i < settings.egress_most.size(); ++i) {
    const double seconds = wire * sent[i] / (period * settings.egress_most[i]);
    needed =
        std::max(needed, RealDuration::from_ps(seconds * kPicosecondsPerSecond) - settings.slack);
  }
  return round_length(needed, settings);
}

Plan make_plan(const NetworkModel& network, const Schedule& schedule, const PlanSettings& settings,
               const Mixing* known) {
  COTILLION_CHECK(!schedule.rounds.empty() && settings.fragments >= 1);
  Plan plan;
  plan.schedule = schedule.name;
  plan.settings = settings;
  plan.network = network.settings();
  PriceScratch scratch;
  for (const Round& round : schedule.rounds) {
    const RoundRates rates = rates_of(network, round);
    PlannedRound planned;
    for (std::size_t c = 0; c < round.cliques.size(); ++c) {
      planned.cliques.push_back(
          plan_clique(network, round, round.cliques[c], rates.bounds[c], scratch));
      const PlannedClique& clique = planned.cliques.back();
      plan.feasible = plan.feasible && clique.feasible;
      plan.runnable = plan.runnable && clique.runnable;
      planned.planned = std::max(planned.planned, clique.price);
    }
    plan.round = std::max(plan.round, planned.planned);
    account(network, rates, planned);
    plan.rounds.push_back(std::move(planned));
  }
  plan.mixing = known != nullptr ? *known : mix(schedule, network.map().island_count());

  const RealDuration length = round_length(network, settings, plan.round,
                                           payloads_sent(network, plan), int(plan.rounds.size()));
  for (std::size_t k = 0; k < plan.rounds.size(); ++k) {
    plan.rounds[k].start = length * double(k);
    plan.rounds[k].length = length;
  }
  plan.streamed_delay = delay_when_streamed(plan);
  const std::vector<RealDuration> lengths(plan.rounds.size(), length);
  for (const Objective objective : kObjectives)
    plan.objectives.push_back(plan.feasible
                                  ? staleness(objective, plan.mixing, lengths, plan.streamed_delay)
                                  : RealDuration::from_ps(std::numeric_limits<double>::infinity()));
  const Certificate certificate = check_plan(network, plan);
  if (!certificate.broken.empty())
    check_failed(certificate.broken.front().c_str(), __FILE__, __LINE__);
  plan.constraints_checked = certificate.constraints;
  plan.worst_excess = certificate.worst;
  return plan;
}

}  // namespace cotillion
