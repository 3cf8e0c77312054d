// The map as a TOML file; docs/reference/files.md describes every field. Reading is a pure function
// of the text, and reports every mistake in it.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "topology/map.hpp"

namespace cotillion {

// `file` names the text in messages. A map that is returned is sound: names are unique,
// every quantity is in range, every island can reach every other.
[[nodiscard]] Expected<Map, Diagnostics> read_map(std::string_view text, const std::string& file);

}  // namespace cotillion
