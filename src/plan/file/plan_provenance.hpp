// What made a file, read back, and which of a file's fields are kept for that and for the rest:
// all files that begin alike are read alike.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "plan/file/plan_fields.hpp"

namespace cotillion {

[[nodiscard]] Provenance read_provenance(const PlanField& root);

inline constexpr std::size_t kInputsMax = 64;

// The filter for parse_plan that keeps fields by name. What is in "inputs" and "settings" has names
// of its own; of a hostile file's any number, one more than there may be is kept.
class NamedFields {
 public:
  // Names with a space between each two; the text must outlive the filter.
  explicit NamedFields(std::string_view names);

  bool operator()(int depth, const std::string& name);

 private:
  std::set<std::string_view> names_;
  bool anything_goes_ = false;
  std::size_t kept_ = 0;
};

}  // namespace cotillion
