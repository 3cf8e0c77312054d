#include "policy/recipe_file.hpp"

#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "policy/rotation_clock.hpp"

namespace cotillion {
namespace {

constexpr std::array<const char*, 8> kKinds = {"rotation",  "gossip", "synchronous", "outer",
                                               "streaming", "eager",  "pairs",       "servers"};

constexpr std::array<const char*, 3> kWires = {"f32", "bf16", "i32"};

std::size_t index_of(const auto& names, const std::string& name, const char* what) {
  for (std::size_t which = 0; which < names.size(); ++which)
    if (name == names[which]) return which;
  throw std::runtime_error("no " + std::string(what) + " is called '" + name + "'");
}

constexpr std::size_t kIslandsMost = 4096;
constexpr double kAverageSlack = 1e-5;  // of what is written by hand: thirds, say

Json to_json(const RecipeRound& round) {
  return {{"length_s", round.length},
          {"mixing", round.mixing},
          {"leaves_s", round.leaves},
          {"arrives_s", round.arrives},
          {"everyone", round.everyone}};
}

RecipeRound round_from(const Json& json) {
  return {number_in(json, "length_s", 0, kMany), numbers_in(json, "mixing", -kMany, kMany),
          numbers_in(json, "leaves_s", 0, kMany), numbers_in(json, "arrives_s", 0, kMany),
          json.at("everyone").get<bool>()};
}

bool needs_rounds(const Recipe& recipe) {
  using Kind = Recipe::Kind;
  return recipe.kind == Kind::kRotation || recipe.kind == Kind::kGossip ||
         recipe.kind == Kind::kPairs || recipe.kind == Kind::kServers;
}

// What a schedule takes for granted.
std::string wrong_with(const Recipe& recipe) {
  const std::size_t n = recipe.islands.size();
  if (n == 0) return "there are no islands";
  if (recipe.shares.size() != n) return "shares are not one for each island";
  if (n > kIslandsMost) return "more islands than a map may have";
  if (recipe.kind == Recipe::Kind::kStreaming &&
      (recipe.overlap < 1 || recipe.overlap > recipe.steps))
    return "overlap_steps is outside a cycle";
  if (!needs_rounds(recipe)) return "";
  if (recipe.rounds.empty()) return "there are no rounds";
  const bool timed = recipe.kind == Recipe::Kind::kRotation;
  for (const RecipeRound& round : recipe.rounds) {
    if (round.mixing.size() != n * n) return "mixing is not islands by islands";
    for (std::size_t i = 0; i < n; ++i) {
      const double* const row = &round.mixing[i * n];
      if (!(std::abs(std::accumulate(row, row + n, 0.0) - 1) <= kAverageSlack))
        return "mixing: the row of " + recipe.islands[i] + " does not add up to 1";
    }
    if (timed && !is_a_step(round, recipe.step_time)) return "length_s is less than a step";
    if (timed && (round.leaves.size() != n * std::size_t(recipe.fragments) ||
                  round.arrives.size() != round.leaves.size()))
      return "leaves_s and arrives_s are not one for each island and fragment";
    for (std::size_t t = 0; timed && t < round.leaves.size(); ++t)
      if (!(round.leaves[t] >= 0 && round.leaves[t] <= round.arrives[t] &&
            round.leaves[t] <= round.length))
        return "a fragment leaves after it arrives, or after its round";
  }
  for (std::size_t r = 0; timed && r < recipe.rounds.size(); ++r) {
    const RecipeRound& round = recipe.rounds[r];
    const RecipeRound& next = recipe.rounds[(r + 1) % recipe.rounds.size()];
    for (std::size_t t = 0; t < round.leaves.size(); ++t)
      if (round.arrives[t] > (round.length + next.leaves[t]) * (1 + 1e-9))
        return "a fragment leaves again before it has arrived";
  }
  if (recipe.momentum >= 1) return "momentum is not below 1";
  if (timed && recipe.own_weight < 1 && (recipe.progress < 1 || recipe.momentum > 0))
    return "own_weight goes without progress and momentum";
  if (timed) return why_not_by_the_clock(recipe);
  return "";
}

}  // namespace

Recipe recipe_from(const Json& json) {
  Recipe recipe;
  recipe.name = json.at("name");
  recipe.policy = json.at("policy");
  recipe.kind = Recipe::Kind(index_of(kKinds, json.at("kind"), "kind"));
  recipe.islands = json.at("islands");
  recipe.shares = numbers_in(json, "shares", 0, 1);
  recipe.step_time = number_in(json, "step_s", kStepLeast, kMany);
  for (const Json& round : json.value("rounds", Json::array()))
    recipe.rounds.push_back(round_from(round));
  recipe.fragments = int(whole_in(json, "fragments", 1, 4096));
  if (json.contains("grain")) recipe.grain = whole_in(json, "grain", 1, kMany);
  recipe.own_weight = number_in(json, "own_weight", 0, 1);
  if (json.contains("progress")) recipe.progress = number_in(json, "progress", 0, 1);
  recipe.momentum = number_in(json, "momentum", 0, 1);
  recipe.momentum_at_sender = json.at("momentum_at_sender");
  recipe.lost = number_in(json, "lost", 0, 0.9);
  recipe.own_for_missing = json.at("own_for_missing");
  recipe.seed = seed_in(json);
  // Files from before these were there have none of them.
  recipe.wire = WireFormat(index_of(kWires, json.value("wire", "f32"), "wire format"));
  if (json.contains("payload")) recipe.payload = number_in(json, "payload", 1e-3, 1e3);
  if (json.contains("moments")) {
    recipe.moments = int(whole_in(json, "moments", 0, 2));
    recipe.moments_every = int(whole_in(json, "moments_every", 1, 4096));
  }
  recipe.steps = int(whole_in(json, "steps", 1, kMany));
  recipe.exchange = number_in(json, "exchange_s", 0, kMany);
  recipe.outer_rate = number_in(json, "outer_rate", 0, 100);
  recipe.nesterov = json.at("nesterov");
  recipe.overlap = int(whole_in(json, "overlap_steps", 0, kMany));
  if (json.contains("latency_s")) {
    recipe.latency = number_in(json, "latency_s", 0, kMany);
    recipe.serialisation = number_in(json, "serialisation_s", 0, kMany);
  }
  recipe.keep = number_in(json, "keep", 0, 1);
  recipe.pull = number_in(json, "pull", 0, 100);
  recipe.every = int(whole_in(json, "every", 1, 1e6));
  recipe.server_weight = number_in(json, "server_weight", 0, 1);
  recipe.learning_rate = number_in(json, "learning_rate", 0, 100);
  recipe.egress = number_in(json, "egress_bytes_per_s", 0, kHuge);
  for (const auto& [name, value] : json.at("staleness_ms").items())
    recipe.staleness.emplace_back(
        name,
        value.is_null() ? INFINITY : number_in(json.at("staleness_ms"), name.c_str(), 0, kHuge));
  return recipe;
}

Json to_json(const Recipe& recipe) {
  Json json = {{"name", recipe.name},
               {"policy", recipe.policy},
               {"kind", kKinds[std::size_t(recipe.kind)]},
               {"islands", recipe.islands},
               {"shares", recipe.shares},
               {"step_s", recipe.step_time},
               {"fragments", recipe.fragments},
               {"grain", recipe.grain},
               {"own_weight", recipe.own_weight},
               {"progress", recipe.progress},
               {"momentum", recipe.momentum},
               {"momentum_at_sender", recipe.momentum_at_sender},
               {"lost", recipe.lost},
               {"own_for_missing", recipe.own_for_missing},
               {"seed", recipe.seed},
               {"wire", kWires[std::size_t(recipe.wire)]},
               {"payload", recipe.payload},
               {"moments", recipe.moments},
               {"moments_every", recipe.moments_every},
               {"steps", recipe.steps},
               {"exchange_s", recipe.exchange},
               {"outer_rate", recipe.outer_rate},
               {"nesterov", recipe.nesterov},
               {"overlap_steps", recipe.overlap},
               {"latency_s", recipe.latency},
               {"serialisation_s", recipe.serialisation},
               {"keep", recipe.keep},
               {"pull", recipe.pull},
               {"every", recipe.every},
               {"server_weight", recipe.server_weight},
               {"learning_rate", recipe.learning_rate},
               {"egress_bytes_per_s", recipe.egress},
               {"staleness_ms", Json::object()}};
  for (const auto& [name, value] : recipe.staleness)
    json["staleness_ms"][name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  if (!recipe.rounds.empty()) json["rounds"] = Json::array();
  for (const RecipeRound& round : recipe.rounds) json["rounds"].push_back(to_json(round));
  return json;
}

Result<std::vector<Recipe>> read_recipes(const std::string& text) {
  std::vector<Recipe> recipes;
  try {
    const Json file = Json::parse(text);
    for (const Json& json : file.at("recipes")) {
      recipes.push_back(recipe_from(json));
      const std::string wrong = wrong_with(recipes.back());
      if (!wrong.empty()) return failure("recipe '" + recipes.back().name + "': " + wrong);
    }
  } catch (const std::exception& problem) {
    return failure("not a file of recipes: " + reason_of(problem));
  }
  if (recipes.empty()) return failure("there are no recipes in it");
  return recipes;
}

}  // namespace cotillion
