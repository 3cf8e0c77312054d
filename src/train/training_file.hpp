// Trainings as JSON; docs/reference/files.md describes every field. The study makes them where
// nothing else of this program is built: this file, too, knows only the standard library and the
// JSON one.
#pragma once

#include "policy/recipe_file.hpp"
#include "train/trainer.hpp"

namespace cotillion {

[[nodiscard]] Json to_json(const Training& training);
// Throws std::exception with what is wrong.
[[nodiscard]] Training training_from(const Json& json);
// A line of a study: five digits, islands' own losses at the end only.
[[nodiscard]] std::string line_of(const Training& training);
// {"trainings": […]}, or one training a line.
[[nodiscard]] Result<std::vector<Training>> read_trainings(const std::string& text);

}  // namespace cotillion
