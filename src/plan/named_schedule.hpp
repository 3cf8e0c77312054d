// Schedules by name: the paper's four, and the product grid.
//
// On the paper's nine cities they are the paper's own. Elsewhere they are constructed from
// regions and latencies where that makes sense, and refused with the reason where it does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "plan/schedule.hpp"
#include "topology/routes.hpp"

namespace cotillion {

// What can be asked for, with a line of help each.
struct ScheduleName {
  std::string_view name;
  std::string_view help;
};
[[nodiscard]] const std::vector<ScheduleName>& schedule_names();

// `name` is one of schedule_names(), or "grid:3x4" for a grid of given sides.
[[nodiscard]] Result<Schedule> named_schedule(std::string_view name, const Map& map,
                                              const Routes& routes);

// Islands in a line in which neighbours are near each other: regions stay together, the next
// island is the nearest one left. Deterministic.
[[nodiscard]] std::vector<IslandId> line_of_islands(const Map& map, const Routes& routes);

}  // namespace cotillion
