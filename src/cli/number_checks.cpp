#include "cli/number_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/text.hpp"

namespace cotillion::cli {
namespace {

// Not a number where it is none, or none that ends.
double number_in(const std::string& text) {
  double value = 0;
  const char* const first = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all && std::isfinite(value) ? value : NAN;
}

}  // namespace

CLI::Validator above_zero(double most) {
  const auto check = [=](const std::string& text) -> std::string {
    const double value = number_in(text);
    return value > 0 && value <= most
               ? ""
               : fmt::format("'{}' is not a number above 0 and up to {}", shown(text), most);
  };
  return CLI::Validator(check, "above 0");
}

CLI::Validator from_to(double least, double most) {
  const auto check = [=](const std::string& text) -> std::string {
    const double value = number_in(text);
    return value >= least && value <= most
               ? ""
               : fmt::format("'{}' is not a number from {} to {}", shown(text), least, most);
  };
  return CLI::Validator(check, fmt::format("from {} to {}", least, most));
}

CLI::Validator a_seed() {
  const auto check = [](const std::string& text) -> std::string {
    const bool digits =
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    const bool octal = text.size() > 1 && text[0] == '0';  // as CLI11 would read it
    return digits && !octal && !text.empty() && text.size() <= 19
               ? ""
               : "a seed is a whole number of up to 19 digits";
  };
  return CLI::Validator(check, "");
}

}  // namespace cotillion::cli
