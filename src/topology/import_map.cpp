#include "topology/import_map.hpp"

#include "topology/csv_network.hpp"
#include "topology/doublezero_network.hpp"
#include "topology/gml_network.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// "maps/gaia.gml" into "gaia".
std::string stem_of(const std::string& file) {
  const std::string name = file.substr(file.find_last_of('/') + 1);
  return name.substr(0, name.find_last_of('.'));
}

ImportedNetwork read_network(std::string_view text, ImportFormat format,
                             const ImportOptions& options, Problems& problems) {
  switch (format) {
    case ImportFormat::kGml:
      return read_gml_network(text, options, problems);
    case ImportFormat::kCsv:
      return read_csv_network(text, options, problems);
    case ImportFormat::kDoublezero:
      break;
  }
  return read_doublezero_network(text, options, problems);
}

}  // namespace

std::optional<ImportFormat> import_format_named(std::string_view name) {
  if (name == "gml") return ImportFormat::kGml;
  if (name == "csv") return ImportFormat::kCsv;
  if (name == "doublezero") return ImportFormat::kDoublezero;
  return std::nullopt;
}

std::optional<ImportFormat> import_format_of(std::string_view text, const std::string& file) {
  if (file.ends_with(".gml") || file.ends_with(".GML")) return ImportFormat::kGml;
  if (file.ends_with(".csv") || file.ends_with(".CSV")) return ImportFormat::kCsv;
  if (file.ends_with(".json") || file.ends_with(".JSON")) return ImportFormat::kDoublezero;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  text.remove_prefix(first);
  if (text.front() == '[' || text.front() == '{') return ImportFormat::kDoublezero;
  if (text.substr(0, text.find('\n')).find(',') != std::string_view::npos)
    return ImportFormat::kCsv;
  if (text.find("graph") != std::string_view::npos) return ImportFormat::kGml;
  return std::nullopt;
}

Expected<Imported, Diagnostics> import_map(std::string_view text, const std::string& file,
                                           std::optional<ImportFormat> format,
                                           const ImportOptions& options) {
  Problems problems(file);
  if (!format) format = import_format_of(text, file);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!format) {
    problems.add({}, "", "neither GML nor CSV nor JSON", "say which: --format gml|csv|doublezero");
  } else if (text.find('\0') != std::string_view::npos) {
    problems.add({}, "", "the file holds NUL bytes", "give a text file");
  } else {
    ImportedNetwork network = read_network(text, *format, options, problems);
    if (network.name.empty()) network.name = stem_of(file);
    if (problems.empty())
      if (auto imported = make_imported_map(std::move(network), options, problems))
        return std::move(*imported);
  }
  return Unexpected{problems.take()};
}

}  // namespace cotillion
