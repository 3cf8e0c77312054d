#include "train/training_file.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "train/rotation_clock.hpp"

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

// What a file says is between these, or it is refused with its name.
double number(const Json& json, const char* key, double least, double most) {
  const Json& value = json.at(key);
  if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most))
    throw std::runtime_error(std::string(key) + ": a number from " + Json(least).dump() + " to " +
                             Json(most).dump());
  return value.get<double>();
}
std::int64_t whole(const Json& json, const char* key, double least, double most) {
  const double value = number(json, key, least, most);
  if (value != std::floor(value)) throw std::runtime_error(std::string(key) + ": a whole number");
  return std::int64_t(value);
}
// All 64 bits: as a double it would be another one.
std::uint64_t seed_in(const Json& json) {
  const Json& seed = json.at("seed");
  if (!seed.is_number_unsigned()) throw std::runtime_error("seed: a whole number, not negative");
  return seed;
}
std::vector<double> numbers(const Json& json, const char* key, double least, double most) {
  std::vector<double> values;
  for (const Json& value : json.at(key)) {
    if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most))
      throw std::runtime_error(std::string(key) + ": numbers from " + Json(least).dump() + " to " +
                               Json(most).dump());
    values.push_back(value.get<double>());
  }
  return values;
}

constexpr double kMany = 1e9;   // steps, seconds
constexpr double kHuge = 1e15;  // bytes, tokens, losses gone wrong
constexpr std::size_t kIslandsMost = 4096;

Json to_json(const RecipeRound& round) {
  return {{"length_s", round.length},
          {"mixing", round.mixing},
          {"leaves_s", round.leaves},
          {"arrives_s", round.arrives},
          {"everyone", round.everyone}};
}

RecipeRound round_from(const Json& json) {
  return {number(json, "length_s", 0, kMany), numbers(json, "mixing", -kMany, kMany),
          numbers(json, "leaves_s", 0, kMany), numbers(json, "arrives_s", 0, kMany),
          json.at("everyone").get<bool>()};
}

Json to_json(const LabRecord& lab) {
  return {{"copies", lab.copies},     {"corrections", lab.corrections},
          {"late_copies", lab.late},  {"latest_ms", lab.latest_ms},
          {"missing", lab.missing},   {"process_mb", lab.process_mb},
          {"agent_mb", lab.agent_mb}, {"agent_before_mb", lab.agent_before_mb},
          {"problems", lab.problems}};
}

LabRecord lab_from(const Json& json) {
  return {whole(json, "copies", 0, kMany),
          whole(json, "corrections", 0, kMany),
          whole(json, "late_copies", 0, kMany),
          number(json, "latest_ms", 0, kMany),
          whole(json, "missing", 0, kMany),
          number(json, "process_mb", 0, kMany),
          number(json, "agent_mb", 0, kMany),
          json.contains("agent_before_mb") ? number(json, "agent_before_mb", 0, kMany) : 0,
          json.at("problems")};
}

Recipe recipe_from(const Json& json) {
  Recipe recipe;
  recipe.name = json.at("name");
  recipe.policy = json.at("policy");
  recipe.kind = Recipe::Kind(index_of(kKinds, json.at("kind"), "kind"));
  recipe.islands = json.at("islands");
  recipe.shares = numbers(json, "shares", 0, 1);
  recipe.step_time = number(json, "step_s", 1e-6, kMany);
  for (const Json& round : json.value("rounds", Json::array()))
    recipe.rounds.push_back(round_from(round));
  recipe.fragments = int(whole(json, "fragments", 1, 4096));
  if (json.contains("grain")) recipe.grain = whole(json, "grain", 1, kMany);
  recipe.own_weight = number(json, "own_weight", 0, 1);
  if (json.contains("progress")) recipe.progress = number(json, "progress", 0, 1);
  recipe.momentum = number(json, "momentum", 0, 1);
  recipe.momentum_at_sender = json.at("momentum_at_sender");
  recipe.lost = number(json, "lost", 0, 0.9);
  recipe.own_for_missing = json.at("own_for_missing");
  recipe.seed = seed_in(json);
  // Files from before these were there have none of them.
  recipe.wire = WireFormat(index_of(kWires, json.value("wire", "f32"), "wire format"));
  if (json.contains("payload")) recipe.payload = number(json, "payload", 1e-3, 1e3);
  if (json.contains("moments")) {
    recipe.moments = int(whole(json, "moments", 0, 2));
    recipe.moments_every = int(whole(json, "moments_every", 1, 4096));
  }
  recipe.steps = int(whole(json, "steps", 1, kMany));
  recipe.exchange = number(json, "exchange_s", 0, kMany);
  recipe.outer_rate = number(json, "outer_rate", 0, 100);
  recipe.nesterov = json.at("nesterov");
  recipe.overlap = int(whole(json, "overlap_steps", 0, kMany));
  if (json.contains("latency_s")) {
    recipe.latency = number(json, "latency_s", 0, kMany);
    recipe.serialisation = number(json, "serialisation_s", 0, kMany);
  }
  recipe.keep = number(json, "keep", 0, 1);
  recipe.pull = number(json, "pull", 0, 100);
  recipe.every = int(whole(json, "every", 1, 1e6));
  recipe.server_weight = number(json, "server_weight", 0, 1);
  recipe.learning_rate = number(json, "learning_rate", 0, 100);
  recipe.egress = number(json, "egress_bytes_per_s", 0, kHuge);
  for (const auto& [name, value] : json.at("staleness_ms").items())
    recipe.staleness.emplace_back(
        name, value.is_null() ? INFINITY : number(json.at("staleness_ms"), name.c_str(), 0, kHuge));
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
  if (n > kIslandsMost) return "more islands than a map may have";
  if (recipe.kind == Recipe::Kind::kStreaming &&
      (recipe.overlap < 1 || recipe.overlap > recipe.steps))
    return "overlap_steps is outside a cycle";
  if (!needs_rounds(recipe)) return "";
  if (recipe.rounds.empty()) return "there are no rounds";
  const bool timed = recipe.kind == Recipe::Kind::kRotation;
  for (const RecipeRound& round : recipe.rounds) {
    if (round.mixing.size() != n * n) return "mixing is not islands by islands";
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

// What has diverged has losses that are no numbers: null.
std::vector<double> losses_from(const Json& json) {
  std::vector<double> losses;
  Json all = json.at("island_loss");
  all.insert(all.begin(), json.at("loss_of_mean"));
  for (const Json& loss : all) {
    if (!loss.is_null() && !loss.is_number()) throw std::runtime_error("a loss is no number");
    losses.push_back(loss.is_null() ? INFINITY : loss.get<double>());
  }
  return losses;
}

TrainingPoint point_from(const Json& json) {
  if (!json.at("island_loss").is_array()) throw std::runtime_error("island_loss is no list");
  const std::vector<double> losses = losses_from(json);
  return {whole(json, "step", 0, kMany),      number(json, "seconds", 0, kMany),
          number(json, "tokens", 0, kHuge),   losses.at(0),
          {losses.begin() + 1, losses.end()}, number(json, "training_loss", -kHuge, kHuge),
          number(json, "distance", 0, kHuge), number(json, "norm", 0, kHuge)};
}

// Five digits of every fraction.
void shorten(Json& json) {
  if (json.is_number_float() && std::isfinite(json.get<double>())) {
    char text[32];
    std::snprintf(text, sizeof text, "%.5g", json.get<double>());
    json = std::strtod(text, nullptr);
  }
  if (json.is_structured())
    for (Json& part : json) shorten(part);
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
          {"distance_every", settings.distance_every},
          {"seed", settings.seed},
          {"target", settings.target}};
}

TrainingSettings settings_from(const Json& json) {
  TrainingSettings settings;
  settings.steps = whole(json, "steps", 0, kMany);
  settings.seconds = number(json, "seconds", 0, kMany);
  settings.batch = int(whole(json, "batch", 1, kMany));
  settings.rate = number(json, "rate", 0, kMany);
  settings.warmup = int(whole(json, "warmup_steps", 0, kMany));
  settings.rate_last = number(json, "rate_last", 0, 1);
  settings.evaluations = int(whole(json, "evaluations", 0, kMany));
  settings.windows = int(whole(json, "windows", 0, kMany));
  if (json.contains("distance_every"))
    settings.distance_every = int(whole(json, "distance_every", 1, kMany));
  settings.seed = seed_in(json);
  settings.target = number(json, "target", 0, kMany);
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
    return failure(std::string("not a file of recipes: ") + problem.what());
  }
  if (recipes.empty()) return failure("there are no recipes in it");
  return recipes;
}

Json to_json(const Training& training) {
  Json json = {{"recipe", to_json(training.recipe)},
               {"model", training.model},
               {"parameters", training.parameters},
               {"context", training.context},
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
               {"diverged", training.diverged},
               {"points", Json::array()}};
  for (const TrainingPoint& point : training.points) json["points"].push_back(to_json(point));
  json["memory"] = {{"bytes_per_parameter", training.memory.kept},
                    {"moving_bytes_per_parameter", training.memory.moving},
                    {"models_in_flight", training.memory.in_flight}};
  if (training.lab) json["lab"] = to_json(*training.lab);
  return json;
}

std::string line_of(const Training& training) {
  Json line = to_json(training);
  Json& points = line["points"];
  for (std::size_t p = 0; p + 1 < points.size(); ++p) points[p]["island_loss"] = Json::array();
  shorten(line);
  return line.dump();
}

Training training_from(const Json& json) {
  Training training;
  training.recipe = recipe_from(json.at("recipe"));
  training.model = json.at("model");
  training.parameters = whole(json, "parameters", 0, kHuge);
  if (json.contains("context")) training.context = int(whole(json, "context", 0, kMany));
  training.data = json.at("data");
  training.unigram_entropy = number(json, "unigram_entropy", 0, 100);
  training.device = json.at("device");
  training.settings = settings_from(json.at("settings"));
  const Json& measured = json.at("measured");
  training.account = {number(measured, "delay_mean_s", 0, kMany),
                      number(measured, "delay_max_s", 0, kMany),
                      number(measured, "cycle_s", 0, kMany)};
  training.steps = whole(json, "steps", 0, kMany);
  training.seconds = number(json, "seconds", 0, kMany);
  training.utilisation = number(json, "utilisation", 0, 1.000001);
  training.egress_bytes = number(json, "egress_bytes", 0, 1e24);
  if (!json.at("target_time_s").is_null())
    training.target_time = number(json, "target_time_s", 0, kMany);
  training.computed_seconds = number(json, "computed_s", 0, kMany);
  training.finished = json.at("finished");
  training.diverged = json.at("diverged");
  for (const Json& point : json.at("points")) {
    training.points.push_back(point_from(point));
    // Lines of a study keep them at the end only.
    const std::size_t known = training.points.back().island_loss.size();
    if (known != 0 && known != training.recipe.islands.size())
      throw std::runtime_error("island_loss is not one for each island");
  }
  if (training.points.empty()) throw std::runtime_error("a training without points");
  // Earlier versions counted vectors in place of bytes, and some twice.
  if (json.contains("memory") && !json.at("memory").contains("vectors"))
    training.memory = {number(json.at("memory"), "bytes_per_parameter", 0, 1e6),
                       number(json.at("memory"), "moving_bytes_per_parameter", 0, 1e6),
                       number(json.at("memory"), "models_in_flight", 0, 1000)};
  if (json.contains("lab")) training.lab = lab_from(json.at("lab"));
  return training;
}

Result<std::vector<Training>> read_trainings(const std::string& text) {
  std::vector<Training> trainings;
  if (text.empty()) return failure("empty: no trainings");
  try {
    const std::size_t end = text.find('\n');
    // A line that is complete in itself, and has no list of trainings, is one of them.
    const Json first = Json::parse(text.substr(0, end), nullptr, false);
    if (!first.is_discarded() && !first.contains("trainings")) {
      std::istringstream lines(text);
      std::size_t number = 0;
      for (std::string line; std::getline(lines, line);) try {
          ++number;
          if (!line.empty()) trainings.push_back(training_from(Json::parse(line)));
        } catch (const std::exception& problem) {
          return failure("line " + std::to_string(number) + ": not a training: " + problem.what());
        }
      return trainings;
    }
    const Json file = Json::parse(text);
    for (const Json& json : file.at("trainings")) trainings.push_back(training_from(json));
  } catch (const std::exception& problem) {
    return failure(std::string("not a file of trainings: ") + problem.what());
  }
  return trainings;
}

}  // namespace cotillion
