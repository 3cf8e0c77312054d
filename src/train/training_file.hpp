// Recipes and trainings as JSON; docs/files.md describes every field. Recipes travel to machines on
// which nothing of this program but the study is built, so this file knows only the standard
// library and the JSON one.
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "train/trainer.hpp"

namespace cotillion {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json to_json(const Recipe& recipe);
// {"recipes": […]}. What is missing or cannot be so is named.
[[nodiscard]] Result<std::vector<Recipe>> read_recipes(const std::string& text);

[[nodiscard]] Json to_json(const Training& training);
// Throws std::exception with what is wrong.
[[nodiscard]] Training training_from(const Json& json);
// A line of a study: five digits, islands' own losses at the end only.
[[nodiscard]] std::string line_of(const Training& training);
// {"trainings": […]}, or one training a line.
[[nodiscard]] Result<std::vector<Training>> read_trainings(const std::string& text);

}  // namespace cotillion
