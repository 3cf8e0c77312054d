// What another program prints, for questions that only it can answer. It gets no shell, nothing on
// stdin, none of our descriptors, and no more time and room than it is given.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cotillion {

struct ChildLimits {
  Duration time{2'000'000'000'000};
  std::size_t bytes = 1 << 16;
};

// The stdout of `words`, of which the first is a name that is looked for in the usual places, or a
// path. An error if it is not there, fails, prints too much or is not done in time.
[[nodiscard]] Result<std::string> child_output(const std::vector<std::string>& words,
                                               const ChildLimits& limits = {});

// Where a program of that name is; empty when nowhere.
[[nodiscard]] std::string program_path(const std::string& name);

}  // namespace cotillion
