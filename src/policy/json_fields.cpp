#include "policy/json_fields.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace cotillion {
namespace {

// The reason is about the list where it is one of a list.
double checked_number(const Json& value, const char* key, const char* what, double least,
                      double most) {
  if (value.is_number() && value.get<double>() >= least && value.get<double>() <= most)
    return value.get<double>();
  throw std::runtime_error(std::string(key) + ": " + what + " from " + Json(least).dump() + " to " +
                           Json(most).dump());
}

}  // namespace

double number_in(const Json& json, const char* key, double least, double most) {
  return checked_number(json.at(key), key, "a number", least, most);
}

std::int64_t whole_in(const Json& json, const char* key, double least, double most) {
  const double value = number_in(json, key, least, most);
  if (value != std::floor(value)) throw std::runtime_error(std::string(key) + ": a whole number");
  return std::int64_t(value);
}

std::vector<double> numbers_in(const Json& json, const char* key, double least, double most) {
  std::vector<double> values;
  for (const Json& value : json.at(key))
    values.push_back(checked_number(value, key, "numbers", least, most));
  return values;
}

std::string reason_of(const std::exception& problem) {
  const std::string text = problem.what();
  const std::size_t end = text.starts_with("[json.exception") ? text.find("] ") : std::string::npos;
  return end == std::string::npos ? text : text.substr(end + 2);
}

std::uint64_t seed_in(const Json& json) {
  const Json& seed = json.at("seed");
  if (!seed.is_number_unsigned()) throw std::runtime_error("seed: a whole number, not negative");
  return seed;
}

}  // namespace cotillion
