// Options of a training, in one table: `cotillion train` and train_study take the same ones, with
// the same bounds and the same words. Nothing here knows a library for command lines, so that
// train_study can be built where there is none.
#pragma once

#include <span>
#include <string>

#include "train/study.hpp"

namespace cotillion {

struct TrainingOption {
  const char* name;   // "--rate"
  const char* value;  // what stands for its value in help; empty: it is a flag
  const char* help;
  // Takes a value into the settings. Returns what is wrong with it; empty where nothing is.
  std::string (*take)(StudySettings& settings, const std::string& text);
  bool of_studies = false;  // train_study alone has it
};
[[nodiscard]] std::span<const TrainingOption> training_options();

// A whole option's value as a number above zero, or what is wrong with it.
[[nodiscard]] std::string take_above_zero(double& into, const std::string& text, double most);

}  // namespace cotillion
