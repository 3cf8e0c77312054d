// The training process of one island in a lab: a learner of its own, beside the agent of its own.
#pragma once

#include <functional>
#include <memory>

#include "learn/learner.hpp"
#include "train/packetised_plan.hpp"

namespace cotillion {

// What a process is told before anything else.
struct LabIslandSetup {
  LearnerSettings learner;
  Recipe recipe;     // as played
  std::string plan;  // file, scaled
  bool streamed = false;
  Duration grace;
  std::string region;  // its agent's socket
  IslandId island = 0;
  int rounds = 1;
};
[[nodiscard]] std::string to_text(const LabIslandSetup& setup);
[[nodiscard]] Result<LabIslandSetup> read_lab_island(const std::string& text);

// Serves the training that listens at that socket, until it is told to leave or is
// left alone. What went wrong, or nothing.
[[nodiscard]] Result<void> serve_lab_island(
    const std::string& socket,
    const std::function<std::unique_ptr<Learner>(const LearnerSettings&)>& make);

}  // namespace cotillion
