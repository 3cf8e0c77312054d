#include "policy/rival_recipes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "plan/named_schedule.hpp"

namespace cotillion {
namespace {

constexpr int kDrawsOfPairs = 64;  // rounds before random pairings repeat

int steps_for(double time, double step) {
  return std::max(1, int(std::ceil(time / step - 1e-9)));
}

}  // namespace

RivalRecipes::RivalRecipes(const RecipeBasis& basis)
    : plan_(basis.plan),
      network_(basis.network),
      blank_(basis.blank),
      load_(basis.load),
      unicast_(network_.map(), network_.routes(),
               {{false, false}, network_.settings().ships_state}),
      islands_(plan_.map.island_count()),
      payload_(double(network_.payload().count) * network_.wire_factor()) {}

std::optional<Result<Recipe>> RivalRecipes::named(PolicyText& policy) const {
  const std::string& name = policy.name();
  if (name == "synchronous") return synchronous(policy);
  if (name == "local-sgd" || name == "diloco") return blocking(policy);
  if (name == "streaming-diloco") return streaming(policy);
  if (name == "eager-diloco") return eager(policy);
  if (name == "noloco") return pairs(policy);
  if (name == "halos") return servers(policy);
  if (name == "d-psgd" || name == "one-peer" || name == "base" || name == "matcha" ||
      name == "random-pairs")
    return gossip(policy);
  return std::nullopt;
}

Recipe RivalRecipes::recipe(std::string name, double egress, decltype(Recipe::kind) kind) const {
  Recipe recipe{blank_, std::move(kind)};
  recipe.name = std::move(name);
  recipe.egress = egress;
  return recipe;
}

Result<FullExchange> RivalRecipes::network(PolicyText& policy, const char* otherwise) const {
  const std::string name =
      policy.word("network", otherwise, {"ring", "butterfly", "hardware", "free"});
  MixingMemory memory;
  const auto of = [&](const RivalExchange& exchange) {
    return FullExchange{exchange.time.seconds(), exchange.serialisation.seconds(),
                        exchange.payloads_out, name};
  };
  if (name == "free") return FullExchange{0, 0, 0, "free network"};
  if (name == "ring") return of(ring(unicast_, best_ring(unicast_).order, memory));
  if (name == "butterfly") return of(butterfly(unicast_, memory));
  const auto schedule = named_schedule("all-to-all", plan_.map, network_.routes());
  const Plan all = make_plan(network_, *schedule, plan_.plan.settings);
  if (!all.feasible)
    return failure("all-to-all is infeasible with these edges: network=hardware needs memory");
  return FullExchange{all.round.seconds(), all.rounds[0].cliques[0].serialisation.seconds(), 1,
                      "multicast + edges"};
}

RivalRecipes::Answer RivalRecipes::synchronous(PolicyText& policy) const {
  const auto exchange = network(policy, "butterfly");
  if (!exchange) return Unexpected<Error>{exchange.error()};
  const double cycle = blank_.step_time + exchange->time;
  return recipe(fmt::format("synchronous, {}", exchange->name),
                exchange->payloads_out * payload_ / cycle, SynchronousRecipe{exchange->time});
}

RivalRecipes::Answer RivalRecipes::blocking(PolicyText& policy) const {
  const bool diloco = policy.name() == "diloco";
  const auto exchange = network(policy, "butterfly");
  if (!exchange) return Unexpected<Error>{exchange.error()};
  OuterRecipe outer;
  outer.steps = policy.whole("steps", diloco ? 50 : 8, 1, 1'000'000);
  outer.exchange = exchange->time;
  outer.nesterov = diloco;
  std::string name;
  if (diloco) {
    outer.outer_rate = policy.above_zero("rate", 0.7, 10);
    outer.momentum = policy.number("momentum", 0.9, 0, 0.9999);
    name = fmt::format("DiLoCo H={} ({}, {}), {}", outer.steps, outer.outer_rate, outer.momentum,
                       exchange->name);
  } else {
    name = fmt::format("local SGD H={}, {}", outer.steps, exchange->name);
  }
  const double cycle = outer.steps * blank_.step_time + exchange->time;
  return recipe(name, exchange->payloads_out * payload_ / std::max(1e-9, cycle), outer);
}

RivalRecipes::Answer RivalRecipes::streaming(PolicyText& policy) const {
  const auto exchange = network(policy, "butterfly");
  if (!exchange) return Unexpected<Error>{exchange.error()};
  StreamingRecipe streaming;
  streaming.wire = load_.wire;
  streaming.fragments = policy.whole("fragments", 8, 1, 4096);
  streaming.outer_rate = policy.above_zero("rate", 1, 10);
  streaming.momentum = policy.number("momentum", 0, 0, 0.9999);
  streaming.keep = policy.number("keep", 0, 0, 1);
  // In a cycle all of it passes. Copies are taken at the ends of steps, those of one step together,
  // and the last of them arrives when all have passed.
  streaming.latency = exchange->time - exchange->serialisation;
  streaming.serialisation = exchange->serialisation;
  const double step = blank_.step_time;
  const auto flight = [&](int steps) {
    const double together = std::ceil(double(streaming.fragments) / steps);
    return streaming.latency + streaming.serialisation * together / streaming.fragments;
  };
  int least = steps_for(exchange->serialisation, step);
  while (steps_for(flight(least), step) > least) ++least;
  streaming.steps = policy.whole("steps", 0, 0, 1'000'000);
  if (streaming.steps == 0) streaming.steps = least;
  if (streaming.steps < least)
    return failure(fmt::format(
        "streaming-diloco with steps={}: on this network ({}) a cycle takes {} steps of {:.0f} ms "
        "at least, {:.0f} ms to send it all and {:.0f} for a fragment to arrive everywhere",
        streaming.steps, exchange->name, least, step * 1e3, exchange->serialisation * 1e3,
        flight(least) * 1e3));
  streaming.overlap = steps_for(flight(streaming.steps), step);
  return recipe(fmt::format("Streaming DiLoCo H={} F={} α={} ({}, {}), {}", streaming.steps,
                            streaming.fragments, streaming.keep, streaming.outer_rate,
                            streaming.momentum, exchange->name),
                exchange->payloads_out * payload_ / (streaming.steps * step), streaming);
}

RivalRecipes::Answer RivalRecipes::eager(PolicyText& policy) const {
  const auto exchange = network(policy, "butterfly");
  if (!exchange) return Unexpected<Error>{exchange.error()};
  EagerRecipe eager;
  eager.steps = policy.whole("steps", 30, 1, 1'000'000);
  eager.outer_rate = policy.above_zero("rate", 0.7, 10);
  eager.momentum = policy.number("momentum", 0.9, 0, 0.9999);
  eager.exchange = exchange->time;
  const double cycle = std::max(exchange->time, eager.steps * blank_.step_time);
  return recipe(fmt::format("eager DiLoCo H={} ({}, {}), {}", eager.steps, eager.outer_rate,
                            eager.momentum, exchange->name),
                exchange->payloads_out * payload_ / cycle, eager);
}

// Everybody alone, or in pairs; one rests where the number is odd.
std::vector<double> RivalRecipes::random_pairing(std::uint64_t draw) const {
  Random random(Random(blank_.seed + 7919 * draw).next());
  std::vector<int> order;
  for (int i = 0; i < islands_; ++i) order.push_back(i);
  for (int i = islands_ - 1; i > 0; --i)
    std::swap(order[std::size_t(i)], order[std::size_t(random.between(0, i))]);
  std::vector<double> mixing(std::size_t(islands_) * std::size_t(islands_), 0.0);
  const auto set = [&](int a, int b, double weight) {
    mixing[std::size_t(a) * std::size_t(islands_) + std::size_t(b)] = weight;
  };
  for (int i = 0; i < islands_; ++i) set(i, i, 1);
  for (std::size_t i = 0; i + 1 < order.size(); i += 2)
    for (const int a : {order[i], order[i + 1]})
      for (const int b : {order[i], order[i + 1]}) set(a, b, 0.5);
  return mixing;
}

RivalRecipes::Answer RivalRecipes::pairs(PolicyText& policy) const {
  PairsRecipe pairs;
  pairs.steps = policy.whole("steps", 50, 1, 1'000'000);
  pairs.outer_rate = policy.above_zero("rate", 0.7, 10);
  pairs.momentum = policy.number("momentum", 0.5, 0, 0.9999);
  // Between μ and √(2 + μ²) for pairs, or momentum outruns the pull: the paper's condition.
  pairs.pull = policy.number("pull", 1, pairs.momentum + 1e-9,
                             std::sqrt(2 + pairs.momentum * pairs.momentum));
  double waits = 0;
  for (int draw = 0; draw < kDrawsOfPairs; ++draw) {
    pairs.rounds.push_back(round_of(random_pairing(std::uint64_t(draw)), 1));
    waits += pairs.rounds.back().length / kDrawsOfPairs;
  }
  std::string name =
      fmt::format("NoLoCo H={} ({}, {})", pairs.steps, pairs.outer_rate, pairs.momentum);
  if (pairs.pull != 1) name += fmt::format(", pull {}", pairs.pull);
  const double egress =
      payload_ * (islands_ - islands_ % 2) / islands_ / (pairs.steps * blank_.step_time + waits);
  return recipe(name, egress, std::move(pairs));
}

}  // namespace cotillion
