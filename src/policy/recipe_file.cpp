#include "policy/recipe_file.hpp"

#include <array>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "policy/rotation_clock.hpp"
#include "policy/rotation_times.hpp"

namespace cotillion {
namespace {

using Kind = decltype(Recipe::kind);

struct KindName {
  const char* name;
  Kind blank;
};
// In the order of the variant.
const std::array<KindName, std::variant_size_v<Kind>>& kind_names() {
  static const std::array<KindName, std::variant_size_v<Kind>> kNames = {
      {{"rotation", RotationRecipe{}},
       {"gossip", GossipRecipe{}},
       {"synchronous", SynchronousRecipe{}},
       {"outer", OuterRecipe{}},
       {"streaming", StreamingRecipe{}},
       {"eager", EagerRecipe{}},
       {"pairs", PairsRecipe{}},
       {"servers", ServersRecipe{}}}};
  return kNames;
}
const char* name_of(const Kind& kind) {
  const KindName& named = kind_names()[kind.index()];
  COTILLION_CHECK(named.blank.index() == kind.index());
  return named.name;
}
Kind blank_kind(const std::string& name) {
  for (const KindName& kind : kind_names())
    if (name == kind.name) return kind.blank;
  throw std::runtime_error("no kind is called '" + name + "'");
}

constexpr std::array<const char*, 3> kWires = {"f32", "bf16", "i32"};

WireFormat wire_called(const std::string& name) {
  for (std::size_t which = 0; which < kWires.size(); ++which)
    if (name == kWires[which]) return WireFormat(which);
  throw std::runtime_error("no wire format is called '" + name + "'");
}

// Every file has all of these fields, whatever its kind. What a kind does not have is written as
// what changes nothing.
struct Field {
  const char* key;
  Json otherwise;  // its type is the field's
  double least = 0, most = 0;
  const char* since = nullptr;  // files from before there was this key do not have the field
};
const std::vector<Field>& fields() {
  static const std::vector<Field> kFields = {
      {"fragments", 1, 1, 4096},
      {"grain", 1, 1, kMany, "grain"},
      {"own_weight", 1.0, 0, 1},
      {"progress", 1.0, 0, 1, "progress"},
      {"momentum", 0.0, 0, 1},
      {"momentum_at_sender", false},
      {"lost", 0.0, 0, 0.9},
      {"own_for_missing", false},
      {"seed", std::uint64_t(1)},
      {"wire", "f32", 0, 0, "wire"},
      {"payload", 1.0, 1e-3, 1e3, "payload"},
      {"moments", 0, 0, 2, "moments"},
      {"moments_every", 1, 1, 4096, "moments"},
      {"steps", 1, 1, kMany},
      {"exchange_s", 0.0, 0, kMany},
      {"outer_rate", 1.0, 0, 100},
      {"nesterov", false},
      {"overlap_steps", 0, 0, kMany},
      {"latency_s", 0.0, 0, kMany, "latency_s"},
      {"serialisation_s", 0.0, 0, kMany, "latency_s"},
      {"keep", 0.0, 0, 1},
      {"pull", 1.0, 0, 100},
      {"every", 1, 1, 1e6},
      {"server_weight", 0.0, 0, 1},
      {"learning_rate", 0.0, 0, 100},
      {"egress_bytes_per_s", 0.0, 0, kHuge},
  };
  return kFields;
}

Json value_in(const Json& json, const Field& field) {
  if (field.since != nullptr && !json.contains(field.since)) return field.otherwise;
  if (field.otherwise.is_boolean()) return json.at(field.key).get<bool>();
  if (field.otherwise.is_string()) return json.at(field.key).get<std::string>();
  if (field.otherwise.is_number_float()) return number_in(json, field.key, field.least, field.most);
  if (field.otherwise.is_number_unsigned()) return seed_in(json);
  return whole_in(json, field.key, field.least, field.most);
}

// Which of the fields each kind has: one list for reading and for writing.
template <class Type, class Plain>
concept Some = std::same_as<std::remove_const_t<Type>, Plain>;

constexpr bool kAlways = true;

void each_field(Some<RecipeCommon> auto& common, auto visit) {
  visit("seed", common.seed);
  visit("payload", common.payload);
  visit("learning_rate", common.learning_rate);
  visit("egress_bytes_per_s", common.egress);
}
void each_field(Some<RotationRecipe> auto& kind, auto visit) {
  visit("fragments", kind.fragments);
  visit("grain", kind.grain);
  visit("own_weight", kind.own_weight);
  visit("progress", kind.progress);
  visit("momentum", kind.momentum);
  visit("momentum_at_sender", kind.momentum_at_sender);
  visit("lost", kind.lost);
  visit("own_for_missing", kind.own_for_missing);
  visit("wire", kind.wire);
  visit("moments", kind.moments);
  visit("moments_every", kind.moments_every);
}
void each_field(Some<GossipRecipe> auto& kind, auto visit) {
  visit("steps", kind.steps);
}
void each_field(Some<SynchronousRecipe> auto& kind, auto visit) {
  visit("exchange_s", kind.exchange);
}
void each_field(Some<OuterRecipe> auto& kind, auto visit) {
  visit("steps", kind.steps);
  visit("exchange_s", kind.exchange);
  visit("nesterov", kind.nesterov);
  visit("outer_rate", kind.outer_rate);
  visit("momentum", kind.momentum);
}
void each_field(Some<StreamingRecipe> auto& kind, auto visit) {
  visit("steps", kind.steps);
  visit("fragments", kind.fragments);
  visit("overlap_steps", kind.overlap);
  visit("latency_s", kind.latency);
  visit("serialisation_s", kind.serialisation);
  visit("nesterov", kAlways);
  visit("outer_rate", kind.outer_rate);
  visit("momentum", kind.momentum);
  visit("keep", kind.keep);
  visit("wire", kind.wire);
}
void each_field(Some<EagerRecipe> auto& kind, auto visit) {
  visit("steps", kind.steps);
  visit("exchange_s", kind.exchange);
  visit("nesterov", kAlways);
  visit("outer_rate", kind.outer_rate);
  visit("momentum", kind.momentum);
}
void each_field(Some<PairsRecipe> auto& kind, auto visit) {
  visit("steps", kind.steps);
  visit("nesterov", kAlways);
  visit("outer_rate", kind.outer_rate);
  visit("momentum", kind.momentum);
  visit("pull", kind.pull);
}
void each_field(Some<ServersRecipe> auto& kind, auto visit) {
  visit("steps", kind.steps);
  visit("exchange_s", kind.exchange);
  visit("every", kind.every);
  visit("overlap_steps", kind.overlap);
  visit("server_weight", kind.server_weight);
  visit("nesterov", kAlways);
  visit("outer_rate", kind.outer_rate);
  visit("momentum", kind.momentum);
}

// A visitor that reads fields from values that are sound, and one that writes them.
auto reading(const Json& values) {
  return [&values]<class Value>(const char* key, Value& value) {
    if constexpr (std::same_as<Value, WireFormat>)
      value = wire_called(values.at(key));
    else if constexpr (!std::is_const_v<Value>)
      value = values.at(key).get<Value>();
  };
}
auto writing(Json& json) {
  return [&json]<class Value>(const char* key, const Value& value) {
    if constexpr (std::same_as<Value, WireFormat>)
      json[key] = kWires[std::size_t(value)];
    else
      json[key] = value;
  };
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

// What a schedule takes for granted of rounds, whatever their times.
std::string wrong_mixing(const Recipe& recipe) {
  const std::size_t n = recipe.islands.size();
  for (const RecipeRound& round : rounds_of(recipe)) {
    if (round.mixing.size() != n * n) return "mixing is not islands by islands";
    for (std::size_t i = 0; i < n; ++i) {
      const double* const row = &round.mixing[i * n];
      if (!(std::abs(std::accumulate(row, row + n, 0.0) - 1) <= kAverageSlack))
        return "mixing: the row of " + recipe.islands[i] + " does not add up to 1";
    }
  }
  return "";
}

// And of times, where islands train while they exchange.
std::string wrong_times(const RecipeCommon& common, const RotationRecipe& rotation) {
  const std::size_t each = common.islands.size() * std::size_t(rotation.fragments);
  for (const RecipeRound& round : rotation.rounds) {
    if (round.leaves.size() != each || round.arrives.size() != each)
      return "leaves_s and arrives_s are not one for each island and fragment";
    for (std::size_t t = 0; t < each; ++t)
      if (!(round.leaves[t] >= 0 && round.leaves[t] <= round.arrives[t]))
        return "a fragment leaves after it arrives";
  }
  if (RotationTimes(common, rotation).lacking() > 0)
    return "rounds (length_s) are too short: fragments leave again before they have arrived, or "
           "more often than there are steps";
  return "";
}

// What its schedule takes for granted.
std::string wrong_with(const Recipe& recipe) {
  const std::size_t n = recipe.islands.size();
  if (n == 0) return "there are no islands";
  if (recipe.shares.size() != n) return "shares are not one for each island";
  if (n > kIslandsMost) return "more islands than a map may have";
  return std::visit(
      [&](const auto& kind) -> std::string {
        using This = std::remove_cvref_t<decltype(kind)>;
        if constexpr (std::same_as<This, StreamingRecipe>)
          if (kind.overlap < 1 || kind.overlap > kind.steps)
            return "overlap_steps is outside a cycle";
        if constexpr (requires { kind.rounds; }) {
          if (kind.rounds.empty()) return "there are no rounds";
          if (std::string wrong = wrong_mixing(recipe); !wrong.empty()) return wrong;
        }
        if constexpr (std::same_as<This, RotationRecipe>)
          if (std::string wrong = wrong_times(recipe, kind); !wrong.empty()) return wrong;
        if constexpr (requires {
                        kind.rounds;
                        kind.momentum;
                      })
          if (kind.momentum >= 1) return "momentum is not below 1";
        if constexpr (std::same_as<This, RotationRecipe>) {
          if (kind.own_weight < 1 && (kind.progress < 1 || kind.momentum > 0))
            return "own_weight goes without progress and momentum";
          return why_not_by_the_clock(recipe);
        }
        return "";
      },
      recipe.kind);
}

}  // namespace

Recipe recipe_from(const Json& json) {
  Recipe recipe;
  recipe.name = json.at("name");
  recipe.policy = json.at("policy");
  recipe.kind = blank_kind(json.at("kind"));
  recipe.islands = json.at("islands");
  recipe.shares = numbers_in(json, "shares", 0, 1);
  recipe.step_time = number_in(json, "step_s", kStepLeast, kMany);
  std::vector<RecipeRound> rounds;
  for (const Json& round : json.value("rounds", Json::array())) rounds.push_back(round_from(round));
  Json values;
  for (const Field& field : fields()) values[field.key] = value_in(json, field);
  (void)wire_called(values.at("wire"));
  each_field(static_cast<RecipeCommon&>(recipe), reading(values));
  std::visit(
      [&](auto& kind) {
        each_field(kind, reading(values));
        if constexpr (requires { kind.rounds; }) kind.rounds = std::move(rounds);
      },
      recipe.kind);
  for (const auto& [name, value] : json.at("staleness_ms").items())
    recipe.staleness.emplace_back(
        name,
        value.is_null() ? INFINITY : number_in(json.at("staleness_ms"), name.c_str(), 0, kHuge));
  return recipe;
}

Json to_json(const Recipe& recipe) {
  Json json = {{"name", recipe.name},          {"policy", recipe.policy},
               {"kind", name_of(recipe.kind)}, {"islands", recipe.islands},
               {"shares", recipe.shares},      {"step_s", recipe.step_time}};
  for (const Field& field : fields()) json[field.key] = field.otherwise;
  each_field(static_cast<const RecipeCommon&>(recipe), writing(json));
  std::visit([&](const auto& kind) { each_field(kind, writing(json)); }, recipe.kind);
  json["staleness_ms"] = Json::object();
  for (const auto& [name, value] : recipe.staleness)
    json["staleness_ms"][name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  for (const RecipeRound& round : rounds_of(recipe)) json["rounds"].push_back(to_json(round));
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
