// Every value of a JSON file by its pointer, for tests that spoil each of them in turn.
#pragma once

#include <string>
#include <vector>

#include "plan/file/plan_file.hpp"

namespace cotillion::testing {

// Of any depth, but nothing under a pointer that is left out. The first and the last element of a
// list stand for the others.
template <class LeftOut>
void collect_pointers(const Json& json, const std::string& at, LeftOut left_out,
                      std::vector<std::string>& pointers) {
  if (left_out(at)) return;
  if (!at.empty()) pointers.push_back(at);
  if (!json.is_structured()) return;
  const std::string last = std::to_string(json.size() - 1);
  for (const auto& [key, value] : json.items())
    if (json.is_object() || key == "0" || key == last)
      collect_pointers(value, at + "/" + key, left_out, pointers);
}

template <class LeftOut>
[[nodiscard]] std::vector<std::string> pointers_of(const Json& json, LeftOut left_out) {
  std::vector<std::string> pointers;
  collect_pointers(json, "", left_out, pointers);
  return pointers;
}

}  // namespace cotillion::testing
