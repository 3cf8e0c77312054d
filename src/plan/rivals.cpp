#include "plan/rivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "plan/named_schedule.hpp"

namespace cotillion {
namespace {

constexpr int kExponentialSearchMax = 64;  // islands; above it the line is taken as it is

// How long it takes until the last of these flows, each of `bytes`, has arrived.
struct PhasePrice {
  RealDuration time, serialisation;
  FlowShare limit;
  RealDuration passing;  // of the flow that takes longest to pass, wherever it flies
  FlowShare busiest;
};
PhasePrice price_phase(const NetworkModel& network, const std::vector<Flow>& flows, double bytes) {
  const std::vector<FlowShare> shares = share_flows(network, flows);
  PhasePrice slowest;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const RealDuration passing =
        RealDuration::from_ps(bytes * ps_per_byte(shares[f].rate) * network.wire_factor());
    const RealDuration time = passing + network.routes().latency(flows[f].to, flows[f].from);
    if (time > slowest.time) {
      slowest.time = time;
      slowest.serialisation = passing;
      slowest.limit = shares[f];
    }
    if (passing > slowest.passing) {
      slowest.passing = passing;
      slowest.busiest = shares[f];
    }
  }
  return slowest;
}

const Mixing& everybody_averages(int n, MixingMemory& memory) {
  std::vector<IslandId> all;
  for (IslandId i = 0; i < n; ++i) all.push_back(i);
  return memory.recall("all-to-all", {"all-to-all", {completed({{all, {}}}, n)}}, n);
}

std::vector<Flow> everybody_to_everybody(int n) {
  std::vector<Flow> flows;
  for (IslandId from = 0; from < n; ++from)
    for (IslandId to = 0; to < n; ++to)
      if (from != to) flows.push_back({from, to});
  return flows;
}

int exponential_rounds(int n) {
  int rounds = 0;
  while ((1 << rounds) < n) ++rounds;
  return std::max(rounds, 1);
}

std::vector<Flow> jumps(const std::vector<IslandId>& order, int distance) {
  std::vector<Flow> flows;
  for (std::size_t p = 0; p < order.size(); ++p)
    flows.push_back({order[p], order[(p + std::size_t(distance)) % order.size()]});
  return flows;
}

// The slowest of an exponential graph's rounds.
PhasePrice price_exponential(const NetworkModel& network, const std::vector<IslandId>& order) {
  PhasePrice slowest;
  for (int k = 0; k < exponential_rounds(int(order.size())); ++k) {
    const PhasePrice phase =
        price_phase(network, jumps(order, 1 << k), double(network.payload().count));
    if (phase.time > slowest.time) slowest = phase;
  }
  return slowest;
}

RivalExchange exchange_of(const RingPrice& price, std::size_t islands, MixingMemory& memory) {
  RivalExchange exchange;
  exchange.time = price.time;
  exchange.serialisation = price.serialisation;
  exchange.mixing = everybody_averages(int(islands), memory);
  exchange.payloads_out = 2.0 * (double(islands) - 1) / double(islands);
  exchange.limit = price.limit;
  return exchange;
}

}  // namespace

RivalExchange butterfly(const NetworkModel& network, MixingMemory& memory) {
  const int n = network.map().island_count();
  RivalExchange exchange;
  exchange.mixing = everybody_averages(n, memory);
  if (n < 2) return exchange;
  const PhasePrice phase =
      price_phase(network, everybody_to_everybody(n), double(network.payload().count) / n);
  exchange.time = phase.time * 2;
  exchange.serialisation = phase.serialisation * 2;
  exchange.limit = phase.limit;
  exchange.payloads_out = 2.0 * (n - 1) / n;
  return exchange;
}

RivalExchange ring(const NetworkModel& network, const std::vector<IslandId>& order,
                   MixingMemory& memory) {
  return exchange_of(price_ring(network, order), order.size(), memory);
}

std::vector<RivalExchange> rerouted_rings(const NetworkModel& network,
                                          const std::vector<IslandId>& order,
                                          MixingMemory& memory) {
  std::vector<RivalExchange> rings;
  for (const RingPrice& price : price_rerouted_rings(network, order))
    rings.push_back(exchange_of(price, order.size(), memory));
  return rings;
}

StreamedExchange streamed_butterfly(const NetworkModel& network, int fragments,
                                    MixingMemory& memory) {
  const int n = network.map().island_count();
  StreamedExchange streamed{butterfly(network, memory), {}};
  if (n < 2) return streamed;
  const double part = double(network.payload().count) / n / fragments;
  const PhasePrice phase = price_phase(network, everybody_to_everybody(n), part);
  const RealDuration passing = phase.passing * (2.0 * fragments);
  streamed.delay = phase.time * 2;
  streamed.cycle.serialisation = passing;
  streamed.cycle.time = std::max(passing, streamed.delay);
  streamed.cycle.limit = passing < streamed.delay ? phase.limit : phase.busiest;
  return streamed;
}

StreamedExchange streamed_ring(const RivalExchange& ring, int fragments) {
  StreamedExchange streamed{ring, {}};
  streamed.delay = ring.time - ring.serialisation + ring.serialisation * (1.0 / fragments);
  streamed.cycle.time = std::max(ring.serialisation, streamed.delay);
  return streamed;
}

RivalExchange one_peer_exponential(const NetworkModel& network, const std::vector<IslandId>& order,
                                   MixingMemory& memory) {
  const int n = int(order.size());
  RivalExchange exchange;
  if (n < 2) {
    exchange.mixing = everybody_averages(n, memory);
    return exchange;
  }
  const PhasePrice slowest = price_exponential(network, order);
  exchange.time = slowest.time;
  exchange.serialisation = slowest.serialisation;
  exchange.limit = slowest.limit;
  Schedule schedule{"one-peer exponential", {}};
  for (int k = 0; k < exponential_rounds(n); ++k) {
    const std::vector<Flow> flows = jumps(order, 1 << k);
    const PhasePrice phase = price_phase(network, flows, double(network.payload().count));
    exchange.rounds.push_back({phase.time, phase.serialisation});
    // Directed: a receiver averages with its sender, who listens to somebody else.
    Clique all;
    all.weights.assign(std::size_t(n) * n, 0);
    for (IslandId i = 0; i < n; ++i) all.islands.push_back(i);
    for (const Flow& flow : flows) {
      all.weights[std::size_t(flow.to) * n + flow.to] += 0.5;
      all.weights[std::size_t(flow.to) * n + flow.from] += 0.5;
    }
    schedule.rounds.push_back({{std::move(all)}});
  }
  exchange.mixing = memory.recall(schedule.name, schedule, n);
  exchange.payloads_out = 1;
  return exchange;
}

std::vector<IslandId> exponential_order(const NetworkModel& network) {
  std::vector<IslandId> order = line_of_islands(network.map(), network.routes());
  const int n = int(order.size());
  if (n < 3 || n > kExponentialSearchMax) return order;
  if (n <= kExponentialExactMax) {
    std::sort(order.begin(), order.end());
    std::vector<IslandId> best_order = order;
    RealDuration least = price_exponential(network, order).time;
    while (std::next_permutation(order.begin() + 1, order.end())) {
      const RealDuration time = price_exponential(network, order).time;
      if (time >= least) continue;
      least = time;
      best_order = order;
    }
    return best_order;
  }
  // The longest flight decides; a high power lets swaps that shorten other long ones count too.
  const auto cost = [&] {
    double total = 0;
    for (int k = 0; k < exponential_rounds(n); ++k)
      for (const Flow& flow : jumps(order, 1 << k))
        total += std::pow(network.routes().latency(flow.to, flow.from).ms() / 100, 16);
    return total;
  };
  double best = cost();
  for (bool better = true; better;) {
    better = false;
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j) {
        std::swap(order[i], order[j]);
        const double now = cost();
        if (now < best * (1 - 1e-12)) {
          best = now;
          better = true;
        } else {
          std::swap(order[i], order[j]);
        }
      }
  }
  return order;
}

RivalExchange random_pairs(const NetworkModel& network, std::uint64_t seed, int rounds,
                           MixingMemory& memory) {
  const int n = network.map().island_count();
  Random random(seed);
  RivalExchange exchange;
  Schedule schedule{"random pairs", {}};
  for (int k = 0; k < rounds; ++k) {
    std::vector<IslandId> order;
    for (IslandId i = 0; i < n; ++i) order.push_back(i);
    for (int i = n - 1; i > 0; --i) std::swap(order[i], order[random.between(0, i)]);
    std::vector<Clique> pairs;
    std::vector<Flow> flows;
    for (int i = 0; i + 1 < n; i += 2) {
      pairs.push_back({{order[i], order[i + 1]}, {}});
      flows.push_back({order[i], order[i + 1]});
      flows.push_back({order[i + 1], order[i]});
    }
    const PhasePrice phase = price_phase(network, flows, double(network.payload().count));
    exchange.rounds.push_back({phase.time, phase.serialisation});
    if (phase.time > exchange.time) {
      exchange.time = phase.time;
      exchange.serialisation = phase.serialisation;
      exchange.limit = phase.limit;
    }
    exchange.payloads_out += double(flows.size()) / n / rounds;
    schedule.rounds.push_back(completed(std::move(pairs), n));
  }
  exchange.mixing = memory.recall(fmt::format("random pairs {} {}", seed, rounds), schedule, n);
  return exchange;
}

}  // namespace cotillion
