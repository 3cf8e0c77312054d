#include "policy/recipes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "plan/named_schedule.hpp"
#include "plan/policies.hpp"
#include "policy/close_rounds.hpp"
#include "policy/payload_plan.hpp"
#include "policy/rival_recipes.hpp"
#include "policy/rotation_clock.hpp"
#include "protocol/merge.hpp"

namespace cotillion {
namespace {

// W of a round: the clique's own matrix, or members in proportion to their shares.
std::vector<double> mixing_of(const PlannedRound& round, const std::vector<double>& shares) {
  const std::size_t n = shares.size();
  std::vector<double> mixing(n * n, 0.0);
  for (const PlannedClique& clique : round.cliques) {
    double sum = 0;
    for (const IslandId island : clique.islands) sum += shares[std::size_t(island)];
    const std::size_t members = clique.islands.size();
    for (std::size_t a = 0; a < members; ++a)
      for (std::size_t b = 0; b < members; ++b)
        mixing[std::size_t(clique.islands[a]) * n + std::size_t(clique.islands[b])] =
            clique.weights.empty() ? shares[std::size_t(clique.islands[b])] / sum
                                   : clique.weights[a * members + b];
  }
  return mixing;
}

// When each fragment leaves each island and has come from everyone; whole ones wait for the round.
RecipeRound timed(const PlannedRound& round, const std::vector<double>& shares, int fragments,
                  bool streamed) {
  const std::size_t n = shares.size();
  RecipeRound timed{round.length.seconds(), mixing_of(round, shares), {}, {}, false};
  timed.leaves.assign(n * std::size_t(fragments), 0.0);
  timed.arrives.assign(n * std::size_t(fragments), timed.length);
  for (const PlannedClique& clique : round.cliques) {
    timed.everyone = timed.everyone || clique.islands.size() == n;
    if (!streamed || clique.islands.size() < 2) continue;
    const double part = clique.serialisation.seconds() / fragments;
    // One's own copy must have left before it is merged.
    std::vector<double> first(n, 0.0), last(n, 0.0);
    for (const Stream& stream : clique.streams) {
      const double offset = stream.offset.seconds();
      first[std::size_t(stream.sender)] = offset;
      auto& own = last[std::size_t(stream.sender)];
      own = std::max(own, offset);
      for (const Arrival& arrival : stream.receivers) {
        auto& at = last[std::size_t(arrival.receiver)];
        at = std::max(at, offset + RealDuration(arrival.latency).seconds());
      }
    }
    for (const IslandId island : clique.islands)
      for (int f = 0; f < fragments; ++f) {
        const std::size_t at = std::size_t(island) * std::size_t(fragments) + std::size_t(f);
        timed.leaves[at] = first[std::size_t(island)] + f * part;
        timed.arrives[at] = std::min(last[std::size_t(island)] + (f + 1) * part, timed.length);
      }
  }
  return timed;
}

Result<Recipe> rotation(const NetworkModel& network, const Plan& plan, Recipe recipe,
                        PolicyText& policy, const RecipeSettings& settings) {
  if (!plan.feasible)
    return failure(
        fmt::format("{} is infeasible on this map: nobody could train by it", plan.schedule));
  recipe.kind = Recipe::Kind::kRotation;
  recipe.fragments = policy.whole("fragments", 0, 0, 4096);
  const bool streamed = recipe.fragments > 0;
  recipe.fragments = std::max(1, recipe.fragments);
  MergeSettings merge;
  merge.own_weight = policy.number("own-weight", 1, 0, 1);
  merge.momentum = policy.number("momentum", 0, 0, 1);
  merge.progress = policy.number("progress", 1, 0, 1);
  const bool close = policy.word("rounds", "apart", {"apart", "close"}) == "close";
  const std::string at = policy.word("at", "sender", {"sender", "receiver", "everyone"});
  if (merge.momentum > 0)
    merge.momentum_at = at == "sender" ? MomentumAt::kSender : MomentumAt::kReceiver;
  else
    policy.refuse("at", "there is no momentum; give momentum= above 0 too, or leave at= out");
  merge.momentum_only_with_everyone = at == "everyone";
  bool always = true, ever = false;
  for (const PlannedRound& round : plan.rounds) {
    recipe.rounds.push_back(timed(round, recipe.shares, recipe.fragments, streamed));
    always = always && recipe.rounds.back().everyone;
    ever = ever || recipe.rounds.back().everyone;
  }
  const auto safe = checked(merge, always);
  if (!safe) return Unexpected<Error>{safe.error()};
  if (merge.momentum_at == MomentumAt::kReceiver && !ever)
    return failure("momentum in rounds of everyone: this schedule has none");
  if (close && !streamed)
    return failure("rounds=close: whole copies leave when the last ones have been merged");
  std::vector<RealDuration> objectives = plan.objectives;
  double faster = 1;
  if (close) {
    auto closed = close_rounds(network, plan, std::move(recipe.rounds), recipe.fragments);
    if (!closed) return Unexpected<Error>{closed.error()};
    recipe.rounds = std::move(closed->rounds);
    for (const RecipeRound& round : recipe.rounds)
      if (!is_a_step(round, recipe.step_time))
        return failure(fmt::format("rounds=close: rounds of {:.0f} ms would be shorter than a step",
                                   round.length * 1e3));
    objectives = std::move(closed->objectives);
    faster = closed->faster;
  }
  recipe.progress = merge.progress;
  recipe.own_weight = merge.own_weight;
  recipe.momentum = merge.momentum;
  recipe.momentum_at_sender = merge.momentum_at == MomentumAt::kSender;
  const std::string why = why_not_by_the_clock(recipe);
  if (!why.empty()) return failure(why);
  recipe.lost = settings.lost;
  recipe.own_for_missing = settings.missing == Missing::kOwnForMissing;
  recipe.seed = settings.seed;
  recipe.name = fmt::format("{}{}, {}", plan.schedule, close ? ", close" : "",
                            streamed ? fmt::format("streamed {}", recipe.fragments) : "whole");
  if (plan.settings.slack.seconds() > 0)
    recipe.name += fmt::format(", rounds of {:.0f} ms", recipe.rounds[0].length * 1e3);
  if (merge.own_weight < 1) recipe.name += fmt::format(", own weight {}", merge.own_weight);
  if (recipe.progress < 1) recipe.name += fmt::format(", progress {}", recipe.progress);
  if (merge.momentum > 0)
    recipe.name += fmt::format(", momentum {} at the {}", merge.momentum,
                               recipe.momentum_at_sender ? "sender" : "receiver") +
                   (merge.momentum_only_with_everyone ? " in rounds of everyone" : "");
  if (settings.lost > 0)
    recipe.name += fmt::format(", {:.3g} % lost{}", settings.lost * 100,
                               recipe.own_for_missing ? ", own in their place" : "");
  for (const Objective objective : kObjectives)
    recipe.staleness.emplace_back(to_name(objective), objectives[std::size_t(objective)].ms());
  const Policy scored = policy_of(network, plan);
  recipe.egress = std::accumulate(scored.egress.begin(), scored.egress.end(), 0.0) /
                  double(scored.egress.size()) * faster;
  return recipe;
}

// What every policy may carry, and how many bytes of the map's payload it sends for it. A map's
// payload is taken to be of four-byte numbers.
Result<double> read_load(PolicyText& policy, Recipe& recipe) {
  const std::string wire = policy.word("wire", "f32", {"f32", "bf16", "i32"});
  const std::string moments = policy.word("moments", "none", {"none", "second", "both"});
  recipe.wire = wire == "bf16"  ? WireFormat::kBf16
                : wire == "i32" ? WireFormat::kI32
                                : WireFormat::kF32;
  recipe.moments = moments == "both" ? 2 : moments == "second" ? 1 : 0;
  recipe.moments_every = policy.whole("moments-every", 1, 1, 4096);
  const double load = (recipe.wire == WireFormat::kBf16 ? 0.5 : 1) *
                      (1 + double(recipe.moments) / recipe.moments_every);
  return policy.number("payload", load, 0.001, 1000);
}

std::string load_text(const Recipe& recipe, double load) {
  std::string text;
  if (recipe.wire != WireFormat::kF32)
    text += recipe.wire == WireFormat::kBf16 ? ", bf16" : ", i32";
  if (recipe.moments > 0)
    text += fmt::format(", {} every {} rounds", recipe.moments > 1 ? "m and v" : "v",
                        recipe.moments_every);
  if (!is_full_payload(load)) text += fmt::format(", payload × {:.3g}", load);
  return text;
}

std::string wrong_load(const Recipe& recipe) {
  const bool ours = recipe.kind == Recipe::Kind::kRotation;
  if (recipe.wire != WireFormat::kF32 && !ours && recipe.kind != Recipe::Kind::kStreaming)
    return "wire= is for our policies and for streaming-diloco";
  if (recipe.moments == 0) return "";
  if (!ours) return "moments= is for policies that train while they exchange in rounds";
  if (recipe.fragments % recipe.moments_every != 0)
    return fmt::format(
        "moments-every={}: of {} fragments not as many travel in every round, and the price would "
        "be wrong",
        recipe.moments_every, recipe.fragments);
  return "";
}

// Averages that would pull the weighted mean elsewhere: whoever averages everybody alike does,
// where weights differ.
std::string wrong_shares(const Recipe& recipe) {
  const std::size_t n = recipe.islands.size();
  for (const RecipeRound& round : recipe.rounds)
    for (std::size_t j = 0; j < n; ++j) {
      double kept = 0;
      for (std::size_t i = 0; i < n; ++i) kept += recipe.shares[i] * round.mixing[i * n + j];
      if (std::abs(kept - recipe.shares[j]) > 1e-9)
        return fmt::format(
            "--island-weights: its averages would not conserve the weighted mean (of {} they make "
            "{:.3g} in place of {:.3g}); weights are for plans and schedules of plain cliques, "
            "synchronous, local-sgd and the DiLoCos",
            recipe.islands[j], kept, recipe.shares[j]);
    }
  return "";
}

Result<Recipe> blank_recipe(const PlanFile& plan, const std::string& policy,
                            const RecipeSettings& settings) {
  Recipe blank;
  blank.policy = policy;
  blank.islands = island_names(plan.map);
  blank.step_time =
      settings.step_time > 0 ? settings.step_time : plan.plan.settings.step_time.seconds();
  if (!(blank.step_time > 0)) return failure("the plan knows no step time; give one");
  if (!(blank.step_time >= kStepLeast && blank.step_time <= kMany))
    return failure(fmt::format("--step-time: steps of {:.3g} s; a step takes from {} to {:.0e} s",
                               blank.step_time, kStepLeast, kMany));
  blank.shares = settings.shares;
  if (blank.shares.empty()) blank.shares.assign(blank.islands.size(), 1.0);
  if (blank.shares.size() != blank.islands.size())
    return failure(
        fmt::format("--island-weights: {} weights for {} islands; give one for each, as 1,2,1",
                    blank.shares.size(), blank.islands.size()));
  const double sum = std::accumulate(blank.shares.begin(), blank.shares.end(), 0.0);
  for (double& share : blank.shares) {
    if (!(share > 0)) return failure("--island-weights: every island's weight is above zero");
    share /= sum;
  }
  return blank;
}

}  // namespace

const std::vector<PolicyName>& policy_names() {
  static const std::vector<PolicyName> kNames = [] {
    const std::string ours =
        "fragments=F (streamed; whole without), rounds=close, progress=, own-weight=, momentum=, "
        "at=sender|receiver|everyone, moments=second|both with moments-every= rounds";
    const std::string outer = "steps=H, rate=, momentum=, network=ring|butterfly|hardware|free";
    std::vector<PolicyName> names = {{"plan", "the plan as it is; " + ours}};
    for (const ScheduleName& schedule : schedule_names())
      names.push_back(
          {std::string(schedule.name), "that schedule on the plan's map; same settings"});
    names.push_back({"synchronous", "gradients averaged every step; network=, free is the bound"});
    names.push_back({"local-sgd", "states averaged every H steps, blocking; steps=, network="});
    names.push_back({"diloco", outer});
    names.push_back({"streaming-diloco", outer + ", fragments=, keep=α; steps=0: as few as fit"});
    names.push_back({"eager-diloco", outer});
    names.push_back({"noloco", "random pairs; steps=, rate=, momentum=, pull="});
    names.push_back(
        {"d-psgd", "gossip on the physical graph; steps= (0: back to back), fragments="});
    names.push_back({"one-peer", "one-peer exponential graph; same settings"});
    names.push_back({"base", "Base-(k+1) graph; peers=k and the same settings"});
    names.push_back({"matcha", "matchings by chance; budget= and the same settings"});
    names.push_back({"random-pairs", "gossip in random pairs; same settings"});
    names.push_back({"halos",
                     "regional servers and a global one; steps=, every=, weight=, rate=, "
                     "momentum="});
    return names;
  }();
  return kNames;
}

Result<Recipe> recipe_for(const PlanFile& given, const std::string& text,
                          const RecipeSettings& settings) {
  auto policy = PolicyText::read(text);
  if (!policy) return Unexpected<Error>{policy.error()};
  auto blank = blank_recipe(given, text, settings);
  if (!blank) return blank;
  const auto load = read_load(*policy, *blank);
  if (!load) return Unexpected<Error>{load.error()};
  blank->payload = *load;
  const PlanFile plan = with_payload(given, *load);
  const Routes routes(plan.map);
  const NetworkModel network(plan.map, routes, plan.plan.network);
  auto answer = [&]() -> Result<Recipe> {
    const auto rotating = [&](Plan made) {
      return rotation(network, stretched_to_steps(network, std::move(made), blank->step_time),
                      *blank, *policy, settings);
    };
    if (policy->name() == "plan") return rotating(plan.plan);
    if (auto rival = RivalRecipes(plan, network, *blank, settings).named(*policy)) return *rival;
    const auto schedule = named_schedule(policy->name(), plan.map, routes);
    if (!schedule) {
      std::vector<std::string> known;
      for (const PolicyName& name : policy_names()) known.push_back(name.name);
      if (std::find(known.begin(), known.end(), policy->name()) != known.end())
        return Unexpected<Error>{schedule.error()};
      return failure(fmt::format(
          "no policy is called '{}'; {}", shown(policy->name()),
          did_you_mean(policy->name(), known, fmt::format("known: {}", fmt::join(known, ", ")))));
    }
    return rotating(make_plan(network, *schedule, plan.plan.settings));
  }();
  if (!answer) return answer;
  Recipe recipe = std::move(*answer);
  recipe.name += load_text(recipe, *load);
  std::string wrong = wrong_load(recipe);
  if (wrong.empty()) wrong = wrong_shares(recipe);
  if (!wrong.empty()) return failure(fmt::format("policy {}: {}", policy->name(), wrong));
  if (recipe.moments == 0)
    policy->refuse("moments-every", recipe.kind == Recipe::Kind::kRotation
                                        ? "no moments travel; give moments=second or both too, or "
                                          "leave moments-every= out"
                                        : "no moments travel under this policy; leave it out");
  recipe.learning_rate = policy->above_zero("learning-rate", 0, kRateMost);
  const std::string refusal = policy->refusal();
  if (!refusal.empty()) return failure(refusal);
  if (recipe.learning_rate > 0)
    recipe.name += fmt::format(", learning rate {}", recipe.learning_rate);
  return recipe;
}

}  // namespace cotillion
