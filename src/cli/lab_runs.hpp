// One plan in a lab of its own: loaded and scaled, simulated first because the answer may be no,
// then played or probed in a process that is confined, and shown as the options ask.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/played_exchange.hpp"
#include "lab/confinement.hpp"

namespace cotillion::cli {

struct LabOptions {
  std::vector<std::string> plans;
  std::string faults;
  std::int64_t scale = 1000;
  int rounds = 0;
  int trains = 9;
  std::uint64_t seed = 1;
  std::string queue = "100ms";
  std::string grace = "50ms";
  PlayedExchange exchange;
  std::string element = "f32";
  std::string output;
  std::string simulated;
  std::vector<std::string> rivals;
  int rival_times = 6;
  bool probe = false;
  bool rootless = false;
  bool json = false;
};

[[nodiscard]] Confinement confinement_of(const LabOptions& options);

// The exit code of one plan's run. Rivals come after the last plan.
[[nodiscard]] int run_in_lab(const LabOptions& options, const std::string& name, bool last);

}  // namespace cotillion::cli
