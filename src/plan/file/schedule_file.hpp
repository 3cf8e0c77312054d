// A schedule as a TOML file; docs/reference/files.md describes every field.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "plan/schedule.hpp"

namespace cotillion {

[[nodiscard]] Expected<Schedule, Diagnostics> read_schedule(std::string_view text,
                                                            const std::string& file,
                                                            const Map& map);

}  // namespace cotillion
