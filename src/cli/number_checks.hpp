// Numbers on the command line that need not be whole. CLI11's own checks print the bounds with all
// their digits, and let through what is no number at all.
#pragma once

#include <CLI/CLI.hpp>

namespace cotillion::cli {

[[nodiscard]] CLI::Validator above_zero();
// Both ends are allowed.
[[nodiscard]] CLI::Validator from_to(double least, double most);

}  // namespace cotillion::cli
