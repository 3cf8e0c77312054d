// A plan for slower wires: rates, payload and memory divided by one number, so that every time in
// it stays what it was and one machine can carry what a backbone would.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "plan/file/plan_loader.hpp"

namespace cotillion {

// Chunks keep their size, for packets do. Refuses scales that leave nothing of the payload.
[[nodiscard]] Result<PlanFile> scaled(PlanFile plan, std::int64_t scale);

// A plan as the file that coordinators hand out. Refuses plans whose ways another version of the
// router found, for a file would not say so.
[[nodiscard]] Result<std::string> plan_text(const PlanFile& plan);

}  // namespace cotillion
