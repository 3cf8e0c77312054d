#include "train/training_file.hpp"

#include <array>
#include <cmath>

namespace cotillion {
namespace {

constexpr std::array<const char*, 8> kKinds = {"rotation",  "gossip", "synchronous", "outer",
                                               "streaming", "eager",  "pairs",       "servers"};

Json to_json(const RecipeRound& round) {
  return {{"length_s", round.length},
          {"mixing", round.mixing},
          {"leaves_s", round.leaves},
          {"arrives_s", round.arrives},
          {"everyone", round.everyone}};
}

RecipeRound round_from(const Json& json) {
  return {json.at("length_s"), json.at("mixing"), json.at("leaves_s"), json.at("arrives_s"),
          json.at("everyone")};
}

Recipe recipe_from(const Json& json) {
  Recipe recipe;
  recipe.name = json.at("name");
  recipe.policy = json.at("policy");
  const std::string kind = json.at("kind");
  std::size_t which = 0;
  while (which < kKinds.size() && kind != kKinds[which]) ++which;
  if (which == kKinds.size()) throw std::runtime_error("no kind is called '" + kind + "'");
  recipe.kind = Recipe::Kind(which);
  recipe.islands = json.at("islands");
  recipe.shares = json.at("shares").get<std::vector<double>>();
  recipe.step_time = json.at("step_s");
  for (const Json& round : json.value("rounds", Json::array()))
    recipe.rounds.push_back(round_from(round));
  recipe.fragments = json.at("fragments");
  recipe.own_weight = json.at("own_weight");
  recipe.momentum = json.at("momentum");
  recipe.momentum_at_sender = json.at("momentum_at_sender");
  recipe.lost = json.at("lost");
  recipe.own_for_missing = json.at("own_for_missing");
  recipe.seed = json.at("seed");
  recipe.steps = json.at("steps");
  recipe.exchange = json.at("exchange_s");
  recipe.outer_rate = json.at("outer_rate");
  recipe.nesterov = json.at("nesterov");
  recipe.overlap = json.at("overlap_steps");
  recipe.keep = json.at("keep");
  recipe.pull = json.at("pull");
  recipe.every = json.at("every");
  recipe.server_weight = json.at("server_weight");
  recipe.learning_rate = json.at("learning_rate");
  recipe.egress = json.at("egress_bytes_per_s");
  for (const auto& [name, value] : json.at("staleness_ms").items())
    recipe.staleness.emplace_back(name, value.is_null() ? INFINITY : value.get<double>());
  return recipe;
}

bool needs_rounds(const Recipe& recipe) {
  using Kind = Recipe::Kind;
  return recipe.kind == Kind::kRotation || recipe.kind == Kind::kGossip ||
         recipe.kind == Kind::kPairs || recipe.kind == Kind::kServers;
}

// What a dance takes for granted.
std::string wrong_with(const Recipe& recipe) {
  const std::size_t n = recipe.islands.size();
  if (n == 0) return "there are no islands";
  if (recipe.shares.size() != n) return "shares are not one for each island";
  if (!(recipe.step_time > 0)) return "step_s is not above zero";
  if (recipe.fragments < 1 || recipe.steps < 1 || recipe.every < 1)
    return "fragments, steps and every are at least one";
  if (recipe.overlap < 0 || (recipe.kind == Recipe::Kind::kStreaming &&
                             (recipe.overlap < 1 || recipe.overlap > recipe.steps)))
    return "overlap_steps is outside a cycle";
  if (!(recipe.own_weight >= 0 && recipe.own_weight <= 1)) return "own_weight is outside 0 to 1";
  if (!needs_rounds(recipe)) return "";
  if (recipe.rounds.empty()) return "there are no rounds";
  const bool timed = recipe.kind == Recipe::Kind::kRotation;
  for (const RecipeRound& round : recipe.rounds) {
    if (round.mixing.size() != n * n) return "mixing is not islands by islands";
    if (!(round.length >= 0) || (timed && round.length == 0)) return "length_s is not above zero";
    if (timed && (round.leaves.size() != n * std::size_t(recipe.fragments) ||
                  round.arrives.size() != round.leaves.size()))
      return "leaves_s and arrives_s are not one for each island and fragment";
    for (std::size_t t = 0; timed && t < round.leaves.size(); ++t)
      if (!(round.leaves[t] >= 0 && round.leaves[t] <= round.arrives[t] &&
            round.arrives[t] <= round.length * (1 + 1e-9)))
        return "a fragment leaves after it arrives, or arrives after its round";
  }
  return "";
}

Json to_json(const TrainingPoint& point) {
  return {{"step", point.step},
          {"seconds", point.seconds},
          {"tokens", point.tokens},
          {"loss_of_mean", point.loss_of_mean},
          {"island_loss", point.island_loss},
          {"training_loss", point.training_loss},
          {"distance", point.distance},
          {"norm", point.norm}};
}

TrainingPoint point_from(const Json& json) {
  return {json.at("step"),         json.at("seconds"),     json.at("tokens"),
          json.at("loss_of_mean"), json.at("island_loss"), json.at("training_loss"),
          json.at("distance"),     json.at("norm")};
}

Json settings_json(const TrainingSettings& settings) {
  return {{"steps", settings.steps},
          {"seconds", settings.seconds},
          {"batch", settings.batch},
          {"rate", settings.rate},
          {"warmup_steps", settings.warmup},
          {"rate_last", settings.rate_last},
          {"evaluations", settings.evaluations},
          {"windows", settings.windows},
          {"seed", settings.seed},
          {"target", settings.target}};
}

TrainingSettings settings_from(const Json& json) {
  TrainingSettings settings;
  settings.steps = json.at("steps");
  settings.seconds = json.at("seconds");
  settings.batch = json.at("batch");
  settings.rate = json.at("rate");
  settings.warmup = json.at("warmup_steps");
  settings.rate_last = json.at("rate_last");
  settings.evaluations = json.at("evaluations");
  settings.windows = json.at("windows");
  settings.seed = json.at("seed");
  settings.target = json.at("target");
  return settings;
}

}  // namespace

Json to_json(const Recipe& recipe) {
  Json json = {{"name", recipe.name},
               {"policy", recipe.policy},
               {"kind", kKinds[std::size_t(recipe.kind)]},
               {"islands", recipe.islands},
               {"shares", recipe.shares},
               {"step_s", recipe.step_time},
               {"fragments", recipe.fragments},
               {"own_weight", recipe.own_weight},
               {"momentum", recipe.momentum},
               {"momentum_at_sender", recipe.momentum_at_sender},
               {"lost", recipe.lost},
               {"own_for_missing", recipe.own_for_missing},
               {"seed", recipe.seed},
               {"steps", recipe.steps},
               {"exchange_s", recipe.exchange},
               {"outer_rate", recipe.outer_rate},
               {"nesterov", recipe.nesterov},
               {"overlap_steps", recipe.overlap},
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
    return failure(std::string("not a file of recipes: ") + problem.what());
  }
  if (recipes.empty()) return failure("there are no recipes in it");
  return recipes;
}

Json to_json(const Training& training) {
  Json json = {{"recipe", to_json(training.recipe)},
               {"model", training.model},
               {"parameters", training.parameters},
               {"data", training.data},
               {"unigram_entropy", training.unigram_entropy},
               {"device", training.device},
               {"settings", settings_json(training.settings)},
               {"measured",
                {{"delay_mean_s", training.account.delay_mean},
                 {"delay_max_s", training.account.delay_max},
                 {"cycle_s", training.account.cycle}}},
               {"steps", training.steps},
               {"seconds", training.seconds},
               {"utilisation", training.utilisation},
               {"egress_bytes", training.egress_bytes},
               {"target_time_s", training.target_time ? Json(*training.target_time) : Json()},
               {"computed_s", training.computed_seconds},
               {"finished", training.finished},
               {"points", Json::array()}};
  for (const TrainingPoint& point : training.points) json["points"].push_back(to_json(point));
  return json;
}

Training training_from(const Json& json) {
  Training training;
  training.recipe = recipe_from(json.at("recipe"));
  training.model = json.at("model");
  training.parameters = json.at("parameters");
  training.data = json.at("data");
  training.unigram_entropy = json.at("unigram_entropy");
  training.device = json.at("device");
  training.settings = settings_from(json.at("settings"));
  const Json& measured = json.at("measured");
  training.account = {measured.at("delay_mean_s"), measured.at("delay_max_s"),
                      measured.at("cycle_s")};
  training.steps = json.at("steps");
  training.seconds = json.at("seconds");
  training.utilisation = json.at("utilisation");
  training.egress_bytes = json.at("egress_bytes");
  if (!json.at("target_time_s").is_null())
    training.target_time = json.at("target_time_s").get<double>();
  training.computed_seconds = json.at("computed_s");
  training.finished = json.at("finished");
  for (const Json& point : json.at("points")) training.points.push_back(point_from(point));
  return training;
}

Result<std::vector<Training>> read_trainings(const std::string& text) {
  std::vector<Training> trainings;
  try {
    const Json file = Json::parse(text);
    for (const Json& json : file.at("trainings")) trainings.push_back(training_from(json));
  } catch (const std::exception& problem) {
    return failure(std::string("not a file of trainings: ") + problem.what());
  }
  return trainings;
}

}  // namespace cotillion
