// Numbers on the command line. CLI11's own checks print bounds with all their digits, let through
// what is no number at all, and take −1 for the largest number there is.
#pragma once

#include <CLI/CLI.hpp>

namespace cotillion::cli {

[[nodiscard]] CLI::Validator above_zero(double most);
// Both ends are allowed.
[[nodiscard]] CLI::Validator from_to(double least, double most);
// Whole, not negative, and written with so few digits that none are lost.
[[nodiscard]] CLI::Validator a_seed();

}  // namespace cotillion::cli
