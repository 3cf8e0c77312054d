// What train_study is asked for: the options of every training, and a few of its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/study.hpp"

namespace cotillion {

struct StudyOptions {
  std::vector<std::string> recipes, only, done;
  std::string output, claims;
  double budget = 0;
  std::vector<Split> splits = {Split::kAlike};
  StudySettings study;
};

[[nodiscard]] std::string study_usage();

[[nodiscard]] Result<StudyOptions> study_options(const std::vector<std::string>& arguments);

}  // namespace cotillion
