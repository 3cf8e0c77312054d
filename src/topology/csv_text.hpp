// Comma-separated values: records of fields, quoted where they hold commas, as RFC 4180 has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"

namespace cotillion {

class Problems;

struct CsvField {
  std::string text;  // without quotes and blanks around it
  Position at;
};
using CsvRecord = std::vector<CsvField>;

// Blank lines are skipped. On a mistake in the syntax adds one problem and returns nothing.
[[nodiscard]] std::optional<std::vector<CsvRecord>> parse_csv(std::string_view text,
                                                              Problems& problems);

}  // namespace cotillion
