#include "policy/recipes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "plan/named_schedule.hpp"
#include "plan/overlap.hpp"
#include "plan/policies.hpp"
#include "policy/load.hpp"
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
    for (const IslandId island : clique.islands) sum += shares[island];
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
      first[stream.sender] = offset;
      auto& own = last[stream.sender];
      own = std::max(own, offset);
      for (const Arrival& arrival : stream.receivers) {
        auto& at = last[arrival.receiver];
        at = std::max(at, offset + RealDuration(arrival.latency).seconds());
      }
    }
    for (std::size_t member = 0; member < clique.islands.size(); ++member)
      for (int f = 0; f < fragments; ++f) {
        const IslandId island = clique.islands[member];
        const std::size_t at = std::size_t(island) * std::size_t(fragments) + std::size_t(f);
        timed.leaves[at] = first[island] + f * part;
        // Where rounds overlap the plan says when sums come; otherwise not after the round's end.
        timed.arrives[at] = clique.sums.empty()
                                ? std::min(last[island] + (f + 1) * part, timed.length)
                                : clique.sums[member].seconds() + (f + 1) * part;
      }
  }
  return timed;
}

// What our policies are asked for, beyond what is sent.
struct RotationAsked {
  int fragments = 1;
  bool streamed = false;  // by fragments, each as soon as it can
  MergeSettings merge;
};

// Rounds that overlap copy and merge fragments one by one, as many as they are planned for.
RotationAsked read_asked(PolicyText& policy, const Plan& plan) {
  RotationAsked asked;
  const int planned = plan.overlapped ? overlap_fragments(plan.settings) : 0;
  asked.fragments = policy.whole("fragments", planned, planned > 0 ? 1 : 0, 4096);
  asked.streamed = asked.fragments > 0;
  asked.fragments = std::max(1, asked.fragments);
  MergeSettings& merge = asked.merge;
  merge.own_weight = policy.number("own-weight", 1, 0, 1);
  merge.momentum = policy.number("momentum", 0, 0, 1);
  merge.progress = policy.number("progress", 1, 0, 1);
  policy.refuse("rounds",
                "whether rounds overlap is the plan's to say; make one with `cotillion plan "
                "--relax overlap --objective paper-streamed`, and leave rounds= out");
  const std::string at = policy.word("at", "sender", {"sender", "receiver", "everyone"});
  if (merge.momentum > 0)
    merge.momentum_at = at == "sender" ? MomentumAt::kSender : MomentumAt::kReceiver;
  else
    policy.refuse("at", "there is no momentum; give momentum= above 0 too, or leave at= out");
  merge.momentum_only_with_everyone = at == "everyone";
  return asked;
}

// Why these rounds cannot be merged so; empty where they can.
std::string why_not_merged(const RotationAsked& asked, const std::vector<RecipeRound>& rounds) {
  const auto everyone = [](const RecipeRound& round) { return round.everyone; };
  const auto safe = checked(asked.merge, std::all_of(rounds.begin(), rounds.end(), everyone));
  if (!safe) return safe.error().message;
  if (asked.merge.momentum_at == MomentumAt::kReceiver &&
      std::none_of(rounds.begin(), rounds.end(), everyone))
    return "momentum in rounds of everyone: this schedule has none";
  return "";
}

RotationRecipe rotation_asked(const Plan& plan, const RecipeBasis& basis,
                              const RotationAsked& asked, const RecipeSettings& settings) {
  RotationRecipe rotation;
  for (const PlannedRound& round : plan.rounds)
    rotation.rounds.push_back(timed(round, basis.blank.shares, asked.fragments, asked.streamed));
  rotation.fragments = asked.fragments;
  rotation.progress = asked.merge.progress;
  rotation.own_weight = asked.merge.own_weight;
  rotation.momentum = asked.merge.momentum;
  rotation.momentum_at_sender = asked.merge.momentum_at == MomentumAt::kSender;
  rotation.lost = settings.lost;
  rotation.own_for_missing = settings.missing == Missing::kOwnForMissing;
  rotation.wire = basis.load.wire;
  rotation.moments = basis.load.moments;
  rotation.moments_every = basis.load.moments_every;
  return rotation;
}

// "triangles, overlapped, streamed 8, progress 0.5"
std::string rotation_name(const Plan& plan, const RotationRecipe& rotation,
                          const RotationAsked& asked) {
  std::string name =
      fmt::format("{}{}, {}", plan.schedule, plan.overlapped ? ", overlapped" : "",
                  asked.streamed ? fmt::format("streamed {}", rotation.fragments) : "whole");
  if (plan.settings.slack.seconds() > 0)
    name += fmt::format(", rounds of {:.0f} ms", rotation.rounds[0].length * 1e3);
  if (rotation.own_weight < 1) name += fmt::format(", own weight {}", rotation.own_weight);
  if (rotation.progress < 1) name += fmt::format(", progress {}", rotation.progress);
  if (rotation.momentum > 0)
    name += fmt::format(", momentum {} at the {}", rotation.momentum,
                        rotation.momentum_at_sender ? "sender" : "receiver") +
            (asked.merge.momentum_only_with_everyone ? " in rounds of everyone" : "");
  if (rotation.lost > 0)
    name += fmt::format(", {:.3g} % lost{}", rotation.lost * 100,
                        rotation.own_for_missing ? ", own in their place" : "");
  return name;
}

Result<Recipe> rotation(const RecipeBasis& basis, Plan plan, PolicyText& policy,
                        const RecipeSettings& settings) {
  if (!plan.feasible)
    return failure(
        fmt::format("{} is infeasible on this map: nobody could train by it", plan.schedule));
  const RotationAsked asked = read_asked(policy, plan);
  Recipe recipe{basis.blank, rotation_asked(plan, basis, asked, settings)};
  RotationRecipe& rotation = rotation_of(recipe);
  if (const std::string why = why_not_merged(asked, rotation.rounds); !why.empty())
    return failure(why);
  const Policy scored = policy_of(basis.network, plan);
  const RealDuration planned = plan.mean_length();
  if (const double lacking = RotationTimes(recipe, rotation).lacking(); lacking > 0) {
    plan = lengthened(std::move(plan), RealDuration::from_ps(lacking * kPicosecondsPerSecond));
    for (RecipeRound& round : rotation.rounds) round.length += lacking;
  }
  if (const std::string why = why_not_by_the_clock(recipe); !why.empty()) return failure(why);
  recipe.name = rotation_name(plan, rotation, asked);
  for (const Objective objective : kObjectives)
    recipe.staleness.emplace_back(to_name(objective), plan.objective(objective).ms());
  recipe.egress = std::accumulate(scored.egress.begin(), scored.egress.end(), 0.0) /
                  double(scored.egress.size()) * (planned / plan.mean_length());
  return recipe;
}

// Averages that would pull the weighted mean elsewhere: whoever averages everybody alike does,
// where weights differ.
std::string wrong_shares(const Recipe& recipe) {
  const std::size_t n = recipe.islands.size();
  for (const RecipeRound& round : rounds_of(recipe))
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

Result<RecipeCommon> blank_recipe(const PlanFile& plan, const std::string& policy,
                                  const RecipeSettings& settings) {
  RecipeCommon blank;
  blank.policy = policy;
  blank.seed = settings.seed;
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
        "fragments=F (streamed; without, as an overlapping plan has them, or whole), progress=, "
        "own-weight=, momentum=, at=sender|receiver|everyone, moments=second|both with "
        "moments-every= rounds";
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

namespace {

// Why there is no such policy: the schedule of that name cannot be, or nothing has that name.
Error unknown_policy(const std::string& name, const Error& schedule) {
  std::vector<std::string> known;
  for (const PolicyName& policy : policy_names()) known.push_back(policy.name);
  if (std::find(known.begin(), known.end(), name) != known.end()) return schedule;
  const std::string all = fmt::format("known: {}", fmt::join(known, ", "));
  return {fmt::format("no policy is called '{}'; {}", shown(name), did_you_mean(name, known, all))};
}

Result<Recipe> named_recipe(const RecipeBasis& basis, PolicyText& policy,
                            const RecipeSettings& settings) {
  const auto rotating = [&](Plan made) {
    const Plan plan = stretched_to_steps(basis.network, std::move(made), basis.blank.step_time);
    return rotation(basis, plan, policy, settings);
  };
  if (policy.name() == "plan") return rotating(basis.plan.plan);
  if (auto rival = RivalRecipes(basis).named(policy)) return *rival;
  const auto schedule = named_schedule(policy.name(), basis.plan.map, basis.network.routes());
  if (!schedule) return Unexpected<Error>{unknown_policy(policy.name(), schedule.error())};
  return rotating(make_plan(basis.network, *schedule, basis.plan.plan.settings));
}

}  // namespace

Result<Recipe> recipe_for(const PlanFile& given, const std::string& text,
                          const RecipeSettings& settings) {
  auto policy = PolicyText::read(text);
  if (!policy) return Unexpected<Error>{policy.error()};
  auto blank = blank_recipe(given, text, settings);
  if (!blank) return Unexpected<Error>{blank.error()};
  const Load load = read_load(*policy);
  blank->payload = load.payload;
  const PlanFile plan = with_payload(given, load.payload);
  const Routes routes(plan.map);
  const NetworkModel network(plan.map, routes, plan.plan.network);
  auto recipe = named_recipe({plan, network, *blank, load}, *policy, settings);
  if (!recipe) return recipe;
  recipe->name += load_text(load);
  std::string wrong = why_not_carried(*recipe, load);
  if (wrong.empty()) wrong = wrong_shares(*recipe);
  if (!wrong.empty()) return failure(fmt::format("policy {}: {}", policy->name(), wrong));
  if (load.moments == 0)
    policy->refuse("moments-every", is_a<RotationRecipe>(*recipe)
                                        ? "no moments travel; give moments=second or both too, or "
                                          "leave moments-every= out"
                                        : "no moments travel under this policy; leave it out");
  recipe->learning_rate = policy->above_zero("learning-rate", 0, kRateMost);
  const std::string refusal = policy->refusal();
  if (!refusal.empty()) return failure(refusal);
  if (recipe->learning_rate > 0)
    recipe->name += fmt::format(", learning rate {}", recipe->learning_rate);
  return recipe;
}

}  // namespace cotillion
