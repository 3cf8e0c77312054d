// "Did you mean": what to suggest for a name that nobody knows. A known name is close when few
// letters were added, dropped, changed or swapped with a neighbour, at most one in a short name and
// a third in a long one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cotillion {

// The candidate closest to a mistyped name, or an empty string when none is close. The case of
// letters does not count, and the first of equally close candidates wins.
[[nodiscard]] std::string closest_name(std::string_view name,
                                       const std::vector<std::string>& candidates);

// The remedy for an unknown name: "did you mean 'LON'?", or `otherwise` when no candidate is close.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       const std::vector<std::string>& candidates,
                                       std::string otherwise);

}  // namespace cotillion
