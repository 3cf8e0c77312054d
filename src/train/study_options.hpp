// What train_study is asked for.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "train/study.hpp"

namespace cotillion {

struct StudyOptions {
  std::vector<std::string> recipes, only, done;
  std::string output, claims;
  double budget = 0;
  std::vector<Split> splits = {Split::kAlike};
  double steps_long = 0;  // a run's time in steps, where it is given so
  StudySettings study;
};

extern const char* const kStudyUsage;

// Says what is wrong.
struct WrongUse : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Throws WrongUse.
[[nodiscard]] StudyOptions study_options(const std::vector<std::string>& arguments);

}  // namespace cotillion
