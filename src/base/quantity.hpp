// Reads quantities as people write them in maps and on the command line: "49.4ms",
// "100Gbps", "32GB". A bare number is an error, because a forgotten unit is the commonest
// and costliest mistake in such files. Decimals are converted exactly, never through a
// double: "49.4ms" is 49,400,000,000 ps.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cotillion {

// The message of an Error says what is wrong; `remedy` says what to write instead.
struct QuantityError {
  std::string message;
  std::string remedy;
};

template <class T>
using Quantity = Expected<T, QuantityError>;

// All three refuse negative values; zero is for the caller to judge.
[[nodiscard]] Quantity<Duration> parse_duration(std::string_view text);
[[nodiscard]] Quantity<Bytes> parse_bytes(std::string_view text);
[[nodiscard]] Quantity<BitsPerSecond> parse_rate(std::string_view text);

}  // namespace cotillion
