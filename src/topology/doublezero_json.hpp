// The records in a JSON text, with the line of each. The JSON library's event interface is used,
// not its documents: they keep no lines, and a hostile file would fill memory with them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"

namespace cotillion {

class Problems;

// A text or a number, as text; `quoted` tells them apart. Lists, booleans and null are no values.
struct JsonValue {
  std::string text;
  bool quoted = false;
};

struct JsonRecord {
  std::string list;  // the field of the outermost object that holds the list; may be empty
  Position at;
  std::map<std::string, JsonValue> fields;
};

// The objects of the outermost array, or of the arrays in the outermost object. What lies deeper
// is skipped. On a mistake in the syntax adds one problem and returns nothing.
[[nodiscard]] std::optional<std::vector<JsonRecord>> read_json_records(std::string_view text,
                                                                       Problems& problems);

}  // namespace cotillion
