// Gossip, and servers in regions: rivals whose exchanges are flows between some islands.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.hpp"
#include "policy/gossip_graphs.hpp"
#include "policy/rival_recipes.hpp"

namespace cotillion {
namespace {

constexpr int kDraws = 128;  // rounds before random ones repeat

// Islands that no third island lies between: neighbours on the map, routers looked through.
Ties physical_ties(const NetworkModel& network) {
  Ties ties;
  const Map& map = network.map();
  for (IslandId a = 0; a < map.island_count(); ++a)
    for (IslandId b{a + 1}; b < map.island_count(); ++b) {
      bool direct = true;
      for (const LaneId lane : network.routes().path(b, a)) {
        const Link& link = map.links[std::size_t(lane) / 2];
        for (const PlaceId end : link.ends)
          direct = direct && (end == a || end == b || end >= map.island_count());
      }
      if (direct) ties.emplace_back(a, b);
    }
  return ties;
}

}  // namespace

RivalRecipes::Price RivalRecipes::price(const std::vector<Flow>& flows) const {
  Price slowest;
  const std::vector<FlowShare> shares = share_flows(unicast_, flows);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const double passing = payload_ * ps_per_byte(shares[f].rate) / kPicosecondsPerSecond;
    const double time =
        passing + RealDuration(unicast_.routes().latency(flows[f].to, flows[f].from)).seconds();
    if (time > slowest.time) slowest = {time, passing};
  }
  return slowest;
}

// Everybody sends to whom has a weight for it; the round is as long as the slowest flow.
RecipeRound RivalRecipes::round_of(const std::vector<double>& mixing, int fragments) const {
  std::vector<Flow> flows;
  for (IslandId to = 0; to < islands_; ++to)
    for (IslandId from = 0; from < islands_; ++from)
      if (to != from && mixing[std::size_t(to) * std::size_t(islands_) + std::size_t(from)] != 0)
        flows.push_back({from, to});
  const Price slowest = price(flows);
  RecipeRound round{slowest.time, mixing, {}, {}, false};
  for (int i = 0; i < islands_; ++i)
    for (int f = 0; f < std::max(1, fragments); ++f) {
      const double part = fragments > 0 ? slowest.serialisation / fragments : 0;
      round.leaves.push_back(fragments > 0 ? f * part : 0);
      round.arrives.push_back(
          fragments > 0
              ? std::min(slowest.time, slowest.time - slowest.serialisation + (f + 1) * part)
              : slowest.time);
    }
  return round;
}

RivalRecipes::Mixings RivalRecipes::matcha_mixings(double budget) const {
  Mixings mixings{fmt::format("MATCHA, budget {}", budget), {}};
  const Matcha graph = matcha(islands_, physical_ties(network_), budget);
  Random random(blank_.seed + 17);
  for (int draw = 0; draw < kDraws; ++draw) {
    Ties active;
    for (std::size_t m = 0; m < graph.matchings.size(); ++m)
      if (random.unit() < graph.chances[m])
        active.insert(active.end(), graph.matchings[m].begin(), graph.matchings[m].end());
    mixings.rounds.push_back(gossip_mixing(islands_, active, graph.weight));
  }
  return mixings;
}

RivalRecipes::Mixings RivalRecipes::one_peer_mixings() const {
  Mixings mixings{"one-peer exponential", {}};
  const std::vector<IslandId> order = exponential_order(unicast_);
  for (std::size_t jump = 1; jump < order.size(); jump *= 2) {
    Matrix mixing(order.size() * order.size(), 0.0);
    for (std::size_t p = 0; p < order.size(); ++p) {
      const auto to = std::size_t(order[(p + jump) % order.size()]);
      mixing[to * order.size() + to] += 0.5;
      mixing[to * order.size() + std::size_t(order[p])] += 0.5;
    }
    mixings.rounds.push_back(std::move(mixing));
  }
  return mixings;
}

RivalRecipes::Mixings RivalRecipes::gossip_mixings(PolicyText& policy) const {
  const std::string& name = policy.name();
  if (name == "d-psgd") return {name, {metropolis(islands_, physical_ties(network_))}};
  if (name == "matcha") return matcha_mixings(policy.number("budget", 0.5, 0.01, 1));
  if (name == "one-peer") return one_peer_mixings();
  if (name == "base") {
    const int peers = policy.whole("peers", 1, 1, islands_);
    return {fmt::format("Base-{} graph", peers + 1), base_graph(islands_, peers)};
  }
  Mixings mixings{name, {}};
  for (int draw = 0; draw < kDraws; ++draw)
    mixings.rounds.push_back(random_pairing(std::uint64_t(draw)));
  return mixings;
}

// Every so many steps, or, with none, back to back: then it is a rotation.
RivalRecipes::Answer RivalRecipes::gossip(PolicyText& policy) const {
  const std::string& name = policy.name();
  const int steps =
      policy.whole("steps", name == "d-psgd" || name == "matcha" ? 1 : 0, 0, 1'000'000);
  const int fragments = policy.whole("fragments", 0, 0, 4096);
  if (steps > 0 && fragments > 0)
    return failure(fmt::format("{}: fragments are for rounds back to back, steps=0", name));
  const Mixings mixings = gossip_mixings(policy);
  std::vector<RecipeRound> rounds;
  double sent = 0, lasted = 0;
  for (const Matrix& mixing : mixings.rounds) {
    RecipeRound round = round_of(mixing, fragments);
    // Nobody met: a round all the same, a step long.
    if (round.length == 0) {
      round.length = blank_.step_time;
      for (double& arrival : round.arrives) arrival = round.length;
    }
    if (steps == 0) round.length = std::max(round.length, blank_.step_time);
    lasted += std::max(round.length, steps * blank_.step_time);
    for (int i = 0; i < islands_; ++i)
      for (int j = 0; j < islands_; ++j)
        sent += i != j && mixing[std::size_t(i) * std::size_t(islands_) + std::size_t(j)] != 0
                    ? 1.0 / islands_
                    : 0.0;
    rounds.push_back(std::move(round));
  }
  if (rounds.empty()) return failure(fmt::format("{}: one island has nobody to meet", name));
  const double egress = sent * payload_ / lasted;
  if (steps > 0)
    return recipe(fmt::format("{}, every {} steps", mixings.name, steps), egress,
                  GossipRecipe{std::move(rounds), steps});
  RotationRecipe rotation;
  rotation.rounds = std::move(rounds);
  rotation.fragments = std::max(1, fragments);
  rotation.wire = load_.wire;
  rotation.moments = load_.moments;
  rotation.moments_every = load_.moments_every;
  return recipe(
      mixings.name + (fragments > 0 ? fmt::format(", streamed {}", fragments) : ", whole"), egress,
      std::move(rotation));
}

IslandId RivalRecipes::nearest(const std::vector<IslandId>& islands) const {
  const auto farthest = [&](IslandId at) {
    Duration most{0};
    for (const IslandId other : islands)
      most = std::max(most, unicast_.routes().latency(at, other));
    return most;
  };
  return *std::min_element(islands.begin(), islands.end(),
                           [&](IslandId a, IslandId b) { return farthest(a) < farthest(b); });
}

double RivalRecipes::there_and_back(const std::vector<Flow>& flows) const {
  std::vector<Flow> back;
  for (const Flow& flow : flows) back.push_back({flow.to, flow.from});
  return price(flows).time + price(back).time;
}

Result<RivalRecipes::Regions> RivalRecipes::regions() const {
  std::map<std::string, std::vector<IslandId>> members_of;
  for (IslandId i = 0; i < islands_; ++i) {
    const std::string& region = plan_.map.islands[i].region;
    if (region.empty()) return failure("halos needs a region for every island of the map");
    members_of[region].push_back(i);
  }
  Regions regions;
  regions.one = members_of.size() == 1;
  regions.mixing.assign(std::size_t(islands_) * std::size_t(islands_), 0.0);
  std::vector<IslandId> hosts;
  for (const auto& [name, members] : members_of) {
    hosts.push_back(nearest(members));
    for (const IslandId i : members) {
      if (i != hosts.back()) regions.within.push_back({i, hosts.back()});
      for (const IslandId j : members)
        regions.mixing[std::size_t(i) * std::size_t(islands_) + std::size_t(j)] =
            1.0 / double(members.size());
    }
  }
  const IslandId centre = nearest(hosts);
  for (const IslandId host : hosts)
    if (host != centre) regions.across.push_back({host, centre});
  return regions;
}

// All of a region send to its server, then all are answered; and so do regions with the global one.
RivalRecipes::Answer RivalRecipes::servers(PolicyText& policy) const {
  auto regions = this->regions();
  if (!regions) return Unexpected<Error>{regions.error()};
  ServersRecipe servers;
  servers.steps = policy.whole("steps", 8, 1, 1'000'000);
  servers.exchange = there_and_back(regions->within);
  servers.overlap =
      std::max(1, int(std::ceil(there_and_back(regions->across) / blank_.step_time - 1e-9)));
  const int least = (servers.overlap + servers.steps - 1) / servers.steps;
  servers.every = policy.whole("every", std::max(1, least), least, 1'000'000);
  servers.server_weight = policy.number("weight", 0.25, 0, 1);
  servers.outer_rate = policy.above_zero("rate", 1, 10);
  servers.momentum = policy.number("momentum", 0.5, 0, 0.9999);
  servers.rounds = {{servers.exchange, std::move(regions->mixing), {}, {}, regions->one}};
  return recipe(fmt::format("HALoS H={} every {} w={} ({}, {})", servers.steps, servers.every,
                            servers.server_weight, servers.outer_rate, servers.momentum),
                payload_ / (servers.steps * blank_.step_time + servers.exchange), servers);
}

}  // namespace cotillion
