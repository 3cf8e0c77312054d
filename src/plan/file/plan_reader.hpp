// Takes the schedule out of a plan that was written as JSON, so that a search can go on from it.
// Prices and offsets are left behind: they belong to the map as it was then.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "plan/schedule.hpp"

namespace cotillion {

// Fields in messages are paths into the JSON: "rounds[1].cliques[0].islands[2]".
[[nodiscard]] Expected<Schedule, Diagnostics> read_planned_schedule(std::string_view text,
                                                                    const std::string& file,
                                                                    const Map& map);

}  // namespace cotillion
