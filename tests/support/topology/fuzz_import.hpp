// The promise of every importer, for the fuzz target of each format: any bytes are refused with
// remedies, or yield a map that survives being written and read, notes included.
#pragma once

#include <string>

#include "tests/support/base/fuzz.hpp"
#include "topology/import_map.hpp"
#include "topology/map_file.hpp"
#include "topology/map_writer.hpp"

namespace cotillion::testing {

inline void check_import(std::string_view text, ImportFormat format) {
  ImportOptions options;
  options.merge_metros = text.size() % 2 == 0;
  const auto imported = import_map(text, "f", format, options);
  if (!imported) return check_refusal(imported.error());
  for (const std::string& note : imported->notes) COTILLION_CHECK(is_plain(note));
  const auto map = read_map(write_map(imported->map, imported->notes), "map.toml");
  COTILLION_CHECK(map.has_value());
}

}  // namespace cotillion::testing
