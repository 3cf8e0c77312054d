// Foreign files as maps: GML, tables of links in CSV, and DoubleZero's list of links. A pure
// function of the text; docs/reference/files.md says what of each format is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "topology/imported_map.hpp"
#include "topology/imported_network.hpp"

namespace cotillion {

enum class ImportFormat { kGml, kCsv, kDoublezero };

// "gml", "csv" or "doublezero".
[[nodiscard]] std::optional<ImportFormat> import_format_named(std::string_view name);

// By the ending of the file's name, else by how the text begins.
[[nodiscard]] std::optional<ImportFormat> import_format_of(std::string_view text,
                                                           const std::string& file);

// `file` names the text in messages, and the map when nothing else does. Without a format it is
// guessed. A map that is returned is sound: read_map takes what write_map makes of it.
[[nodiscard]] Expected<Imported, Diagnostics> import_map(std::string_view text,
                                                         const std::string& file,
                                                         std::optional<ImportFormat> format,
                                                         const ImportOptions& options = {});

}  // namespace cotillion
