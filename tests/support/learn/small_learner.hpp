// Islands small enough for one core: what tests and benchmarks of training learn with.
#pragma once

#include "learn/learner.hpp"

namespace cotillion::testing {

inline LearnerSettings small_learner(int islands) {
  LearnerSettings settings;
  settings.model = *model_named("mlp");
  settings.islands = islands;
  settings.device = "cpu";
  settings.threads = 1;
  return settings;
}

}  // namespace cotillion::testing
