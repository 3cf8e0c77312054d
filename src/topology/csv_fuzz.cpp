// Any bytes as a table of links: importing either refuses with remedies, or yields a map that
// survives being written and read, notes included.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "base/text.hpp"
#include "topology/import_map.hpp"
#include "topology/map_file.hpp"
#include "topology/map_writer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cotillion;
  ImportOptions options;
  options.merge_metros = size % 2 == 0;
  const auto imported =
      import_map({reinterpret_cast<const char*>(data), size}, "f", ImportFormat::kCsv, options);
  if (imported) {
    for (const auto& note : imported->notes) COTILLION_CHECK(is_plain(note));
    const auto map = read_map(write_map(imported->map, imported->notes), "map.toml");
    COTILLION_CHECK(map.has_value());
    return 0;
  }
  COTILLION_CHECK(!imported.error().empty());
  for (const auto& diagnostic : imported.error())
    COTILLION_CHECK(!diagnostic.remedy.empty() && is_plain(to_text(diagnostic)));
  return 0;
}
