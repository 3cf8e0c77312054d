#include "plan/file/plan_numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace cotillion {
namespace {

constexpr double kBillion = 1e9;
constexpr double kWholeBelow = 4503599627370496.0;  // 2^52: a billionth still tells them apart
constexpr double kWrittenMost = 1e290;              // times a billion it is still a number

}  // namespace

double from_billionth(double written) {
  const double near = written * kBillion;
  const double whole = std::round(near);
  if (std::fabs(near) < kWholeBelow)
    for (const double candidate : {whole, whole - 1, whole + 1})
      if (candidate / kBillion == written) return candidate;
  const double up = std::nextafter(near, std::numeric_limits<double>::infinity());
  const double down = std::nextafter(near, -std::numeric_limits<double>::infinity());
  for (const double candidate : {near, up, down})
    if (candidate / kBillion == written) return candidate;
  return near;
}

void note_exact(Json& object, std::initializer_list<std::pair<const char*, double>> values) {
  for (const auto& [key, value] : values)
    if (std::isfinite(value) && from_billionth(value / kBillion) != value)
      object["exact"][key] = value;
}

std::optional<double> read_billionth(const PlanField& object, const char* key) {
  return read_billionth(object, key, object.maybe("exact"));
}

std::optional<double> read_billionth(const PlanField& object, const char* key,
                                     const PlanField& exact) {
  const auto written = object.at(key).number(0, kWrittenMost);
  if (exact.is_there() && !exact.is_object()) return std::nullopt;
  const PlanField given = exact.maybe(key);
  if (!written || !given.is_there())
    return written ? std::optional(from_billionth(*written)) : written;
  const auto value = given.number(0, kWrittenMost * kBillion);
  if (!value || *value / kBillion == *written) return value;
  given.problem(fmt::format("not 10⁹ times the {} of {}", key, *written),
                "correct one of the two, or leave this one out");
  return std::nullopt;
}

std::optional<double> read_positive_billionth(const PlanField& object, const char* key) {
  auto value = read_billionth(object, key);
  if (!value || *value > 0) return value;
  object.at(key).problem("zero", "give a number above zero");
  return std::nullopt;
}

std::optional<Duration> read_latency(const PlanField& object, const char* key, Duration most) {
  const PlanField field = object.at(key);
  const auto written = field.number(0, most.ms());
  if (!written) return std::nullopt;
  const double value = from_billionth(*written);
  if (value == std::floor(value) && value < kWholeBelow) return Duration{std::int64_t(value)};
  field.problem("no whole number of picoseconds");
  return std::nullopt;
}

}  // namespace cotillion
