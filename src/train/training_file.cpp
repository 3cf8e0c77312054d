#include "train/training_file.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace cotillion {
namespace {

Json to_json(const LabRecord& lab) {
  return {{"copies", lab.copies},     {"corrections", lab.corrections},
          {"late_copies", lab.late},  {"latest_ms", lab.latest_ms},
          {"missing", lab.missing},   {"process_mb", lab.process_mb},
          {"agent_mb", lab.agent_mb}, {"agent_before_mb", lab.agent_before_mb},
          {"problems", lab.problems}};
}

LabRecord lab_from(const Json& json) {
  return {whole_in(json, "copies", 0, kMany),
          whole_in(json, "corrections", 0, kMany),
          whole_in(json, "late_copies", 0, kMany),
          number_in(json, "latest_ms", 0, kMany),
          whole_in(json, "missing", 0, kMany),
          number_in(json, "process_mb", 0, kMany),
          number_in(json, "agent_mb", 0, kMany),
          json.contains("agent_before_mb") ? number_in(json, "agent_before_mb", 0, kMany) : 0,
          json.at("problems")};
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
  return {whole_in(json, "step", 0, kMany),
          number_in(json, "seconds", 0, kMany),
          number_in(json, "tokens", 0, kHuge),
          losses.at(0),
          {losses.begin() + 1, losses.end()},
          json.at("training_loss").is_null() ? 0 : number_in(json, "training_loss", -kHuge, kHuge),
          number_in(json, "distance", 0, kHuge),
          number_in(json, "norm", 0, kHuge)};
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
  settings.steps = whole_in(json, "steps", 0, kMany);
  settings.seconds = number_in(json, "seconds", 0, kMany);
  settings.batch = int(whole_in(json, "batch", 1, kMany));
  settings.rate = number_in(json, "rate", 0, kMany);
  settings.warmup = int(whole_in(json, "warmup_steps", 0, kMany));
  settings.rate_last = number_in(json, "rate_last", 0, 1);
  settings.evaluations = int(whole_in(json, "evaluations", 0, kMany));
  settings.windows = int(whole_in(json, "windows", 0, kMany));
  if (json.contains("distance_every"))
    settings.distance_every = int(whole_in(json, "distance_every", 1, kMany));
  settings.seed = seed_in(json);
  settings.target = number_in(json, "target", 0, kMany);
  return settings;
}

}  // namespace

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
  training.parameters = whole_in(json, "parameters", 0, kHuge);
  if (json.contains("context")) training.context = int(whole_in(json, "context", 0, kMany));
  training.data = json.at("data");
  training.unigram_entropy = number_in(json, "unigram_entropy", 0, 100);
  training.device = json.at("device");
  training.settings = settings_from(json.at("settings"));
  const Json& measured = json.at("measured");
  training.account = {number_in(measured, "delay_mean_s", 0, kMany),
                      number_in(measured, "delay_max_s", 0, kMany),
                      number_in(measured, "cycle_s", 0, kMany)};
  training.steps = whole_in(json, "steps", 0, kMany);
  training.seconds = number_in(json, "seconds", 0, kMany);
  training.utilisation = number_in(json, "utilisation", 0, 1.000001);
  training.egress_bytes = number_in(json, "egress_bytes", 0, 1e24);
  if (!json.at("target_time_s").is_null())
    training.target_time = number_in(json, "target_time_s", 0, kMany);
  training.computed_seconds = number_in(json, "computed_s", 0, kMany);
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
    training.memory = {number_in(json.at("memory"), "bytes_per_parameter", 0, 1e6),
                       number_in(json.at("memory"), "moving_bytes_per_parameter", 0, 1e6),
                       number_in(json.at("memory"), "models_in_flight", 0, 1000)};
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
          return failure("line " + std::to_string(number) +
                         ": not a training: " + reason_of(problem));
        }
      return trainings;
    }
    const Json file = Json::parse(text);
    for (const Json& json : file.at("trainings")) trainings.push_back(training_from(json));
  } catch (const std::exception& problem) {
    return failure("not a file of trainings: " + reason_of(problem));
  }
  return trainings;
}

}  // namespace cotillion
