// The time or price of what never happens, in computations with real numbers.
#pragma once

#include <limits>

namespace cotillion {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace cotillion
