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

RivalRecipes::RivalRecipes(const PlanFile& plan, const NetworkModel& network, const Recipe& blank,
                           const RecipeSettings& settings)
    : plan_(plan),
      network_(network),
      blank_(blank),
      settings_(settings),
      unicast_(network.map(), network.routes(), {{false, false}, network.settings().ships_state}),
      islands_(plan.map.island_count()),
      payload_(double(network.payload().count) * network.wire_factor()) {}

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

Recipe RivalRecipes::start(const std::string& name, Recipe::Kind kind) const {
  Recipe recipe = blank_;
  recipe.name = name;
  recipe.kind = kind;
  recipe.seed = settings_.seed;
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
  Recipe recipe = start(fmt::format("synchronous, {}", exchange->name), Recipe::Kind::kSynchronous);
  recipe.exchange = exchange->time;
  recipe.egress = exchange->payloads_out * payload_ / (recipe.step_time + exchange->time);
  return recipe;
}

RivalRecipes::Answer RivalRecipes::blocking(PolicyText& policy) const {
  const bool diloco = policy.name() == "diloco";
  const auto exchange = network(policy, "butterfly");
  if (!exchange) return Unexpected<Error>{exchange.error()};
  Recipe recipe = start("", Recipe::Kind::kOuter);
  recipe.steps = policy.whole("steps", diloco ? 50 : 8, 1, 1'000'000);
  recipe.exchange = exchange->time;
  recipe.nesterov = diloco;
  if (diloco) {
    recipe.outer_rate = policy.above_zero("rate", 0.7, 10);
    recipe.momentum = policy.number("momentum", 0.9, 0, 0.9999);
    recipe.name = fmt::format("DiLoCo H={} ({}, {}), {}", recipe.steps, recipe.outer_rate,
                              recipe.momentum, exchange->name);
  } else {
    recipe.name = fmt::format("local SGD H={}, {}", recipe.steps, exchange->name);
  }
  recipe.egress = exchange->payloads_out * payload_ /
                  std::max(1e-9, recipe.steps * recipe.step_time + exchange->time);
  return recipe;
}

RivalRecipes::Answer RivalRecipes::streaming(PolicyText& policy) const {
  const auto exchange = network(policy, "butterfly");
  if (!exchange) return Unexpected<Error>{exchange.error()};
  Recipe recipe = start("", Recipe::Kind::kStreaming);
  recipe.fragments = policy.whole("fragments", 8, 1, 4096);
  recipe.nesterov = true;
  recipe.outer_rate = policy.above_zero("rate", 1, 10);
  recipe.momentum = policy.number("momentum", 0, 0, 0.9999);
  recipe.keep = policy.number("keep", 0, 0, 1);
  // In a cycle all of it passes. Copies are taken at the ends of steps, those of one step together,
  // and the last of them arrives when all have passed.
  recipe.latency = exchange->time - exchange->serialisation;
  recipe.serialisation = exchange->serialisation;
  const auto flight = [&](int steps) {
    const double together = std::ceil(double(recipe.fragments) / steps);
    return recipe.latency + recipe.serialisation * together / recipe.fragments;
  };
  int least = steps_for(exchange->serialisation, recipe.step_time);
  while (steps_for(flight(least), recipe.step_time) > least) ++least;
  recipe.steps = policy.whole("steps", 0, 0, 1'000'000);
  if (recipe.steps == 0) recipe.steps = least;
  if (recipe.steps < least)
    return failure(fmt::format(
        "streaming-diloco with steps={}: on this network ({}) a cycle takes {} steps of {:.0f} ms "
        "at least, {:.0f} ms to send it all and {:.0f} for a fragment to arrive everywhere",
        recipe.steps, exchange->name, least, recipe.step_time * 1e3, exchange->serialisation * 1e3,
        flight(least) * 1e3));
  recipe.overlap = steps_for(flight(recipe.steps), recipe.step_time);
  recipe.name =
      fmt::format("Streaming DiLoCo H={} F={} α={} ({}, {}), {}", recipe.steps, recipe.fragments,
                  recipe.keep, recipe.outer_rate, recipe.momentum, exchange->name);
  recipe.egress = exchange->payloads_out * payload_ / (recipe.steps * recipe.step_time);
  return recipe;
}

RivalRecipes::Answer RivalRecipes::eager(PolicyText& policy) const {
  const auto exchange = network(policy, "butterfly");
  if (!exchange) return Unexpected<Error>{exchange.error()};
  Recipe recipe = start("", Recipe::Kind::kEager);
  recipe.steps = policy.whole("steps", 30, 1, 1'000'000);
  recipe.nesterov = true;
  recipe.outer_rate = policy.above_zero("rate", 0.7, 10);
  recipe.momentum = policy.number("momentum", 0.9, 0, 0.9999);
  recipe.exchange = exchange->time;
  recipe.name = fmt::format("eager DiLoCo H={} ({}, {}), {}", recipe.steps, recipe.outer_rate,
                            recipe.momentum, exchange->name);
  recipe.egress =
      exchange->payloads_out * payload_ / std::max(exchange->time, recipe.steps * recipe.step_time);
  return recipe;
}

// Everybody alone, or in pairs; one rests where the number is odd.
std::vector<double> RivalRecipes::random_pairing(std::uint64_t draw) const {
  Random random(Random(settings_.seed + 7919 * draw).next());
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
  Recipe recipe = start("", Recipe::Kind::kPairs);
  recipe.steps = policy.whole("steps", 50, 1, 1'000'000);
  recipe.nesterov = true;
  recipe.outer_rate = policy.above_zero("rate", 0.7, 10);
  recipe.momentum = policy.number("momentum", 0.5, 0, 0.9999);
  // Between μ and √(2 + μ²) for pairs, or momentum outruns the pull: the paper's condition.
  recipe.pull = policy.number("pull", 1, recipe.momentum + 1e-9,
                              std::sqrt(2 + recipe.momentum * recipe.momentum));
  double waits = 0;
  for (int draw = 0; draw < kDrawsOfPairs; ++draw) {
    recipe.rounds.push_back(round_of(random_pairing(std::uint64_t(draw)), 1));
    waits += recipe.rounds.back().length / kDrawsOfPairs;
  }
  recipe.name =
      fmt::format("NoLoCo H={} ({}, {})", recipe.steps, recipe.outer_rate, recipe.momentum);
  if (recipe.pull != 1) recipe.name += fmt::format(", pull {}", recipe.pull);
  recipe.egress =
      payload_ * (islands_ - islands_ % 2) / islands_ / (recipe.steps * recipe.step_time + waits);
  return recipe;
}

}  // namespace cotillion
