// What a probe found, for people and for programs.
#pragma once

#include <string>

#include "lab/probe.hpp"
#include "plan/file/plan_file.hpp"

namespace cotillion {

[[nodiscard]] std::string probe_text(const Map& map, const ProbeOutcome& outcome);
[[nodiscard]] Json probe_json(const Map& map, const ProbeOutcome& outcome);

// The emulator's own accuracy, to stand beside every outcome of a lab: one sentence or object.
[[nodiscard]] std::string accuracy_text(const WanCounters& counters);
[[nodiscard]] Json accuracy_json(const WanCounters& counters);

}  // namespace cotillion
