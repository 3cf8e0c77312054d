// What this machine has of what a lab needs, found out by trying, and how to get the rest.
#pragma once

#include <string>
#include <vector>

#include "lab/confinement.hpp"
#include "plan/file/plan_file.hpp"

namespace cotillion {

struct Finding {
  enum class State {
    kFine,
    kLost,     // a lab runs without it, and less well
    kMissing,  // no lab runs without it
  };
  std::string what;
  State state = State::kFine;
  std::string found;
  std::string remedy;  // empty where it is fine
};

[[nodiscard]] std::vector<Finding> examine(const Confinement& confinement);
[[nodiscard]] bool can_run(const std::vector<Finding>& findings);

[[nodiscard]] std::string findings_text(const std::vector<Finding>& findings);
[[nodiscard]] Json findings_json(const std::vector<Finding>& findings);

}  // namespace cotillion
