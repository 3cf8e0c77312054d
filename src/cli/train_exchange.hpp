// The ways in which `cotillion train` exchanges, one after the other on one clock: ideally, through
// the simulator, in a lab on this machine.
#pragma once

#include "job/faults.hpp"
#include "plan/file/plan_loader.hpp"
#include "train/study.hpp"

namespace cotillion::cli {

struct ExchangeOptions {
  std::vector<std::string> names = {"ideal"};
  std::string faults;
  std::string grace;  // empty: as suits them
  int pace = 1;
  bool rootless = false;

  [[nodiscard]] bool has(const std::string& name) const;
  // Packets take part: all go by their clock.
  [[nodiscard]] bool of_packets() const { return has("simulated") || has("lab"); }
};

// Trains by every recipe under every exchange. Throws Stop. With "lab" among them within confined()
// only.
[[nodiscard]] Expected<std::vector<Training>, StudyFailure> train_by(
    const ExchangeOptions& exchanges, const StudySettings& settings, const PlanFile& plan,
    const Faults& faults, const std::vector<Recipe>& recipes, StudyEvents events);

}  // namespace cotillion::cli
