// libtorch, loaded when something is to be trained. It takes half a second and hundreds of
// megabytes, which no other verb should wait for.
#pragma once

#include "learn/learner.hpp"

namespace cotillion::cli {

// Throws Stop when this build has none, or it does not load; std::runtime_error for what the
// learner itself refuses.
[[nodiscard]] std::unique_ptr<Learner> load_learner(const LearnerSettings& settings);

}  // namespace cotillion::cli
