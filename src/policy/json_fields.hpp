// Numbers of files of recipes and trainings: each between two ends, or refused with its name.
// Throws std::runtime_error.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "plan/file/json.hpp"

namespace cotillion {

constexpr double kHuge = 1e15;  // bytes, tokens, losses gone wrong

[[nodiscard]] double number_in(const Json& json, const char* key, double least, double most);
[[nodiscard]] std::int64_t whole_in(const Json& json, const char* key, double least, double most);
[[nodiscard]] std::vector<double> numbers_in(const Json& json, const char* key, double least,
                                             double most);
// What went wrong, without the JSON library's own name and number for it.
[[nodiscard]] std::string reason_of(const std::exception& problem);
// All 64 bits: as a double it would be another one.
[[nodiscard]] std::uint64_t seed_in(const Json& json);

}  // namespace cotillion
