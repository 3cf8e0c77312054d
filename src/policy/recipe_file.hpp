// Recipes as JSON; docs/reference/files.md describes every field. Recipes travel to machines on
// which nothing of this program but the study is built, so this file knows only the standard
// library and the JSON one.
#pragma once

#include "base/result.hpp"
#include "policy/json_fields.hpp"
#include "policy/recipe.hpp"

namespace cotillion {

[[nodiscard]] Json to_json(const Recipe& recipe);
// Throws std::exception with what is wrong. A training's has no rounds.
[[nodiscard]] Recipe recipe_from(const Json& json);
// {"recipes": […]}. What is missing or cannot be so is named.
[[nodiscard]] Result<std::vector<Recipe>> read_recipes(const std::string& text);

}  // namespace cotillion
