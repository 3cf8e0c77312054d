// A map as TOML text, in the form that docs/reference/files.md describes: what importers and the
// generator hand to people, who then mend it by hand. Quantities are written exactly, so reading
// the text again yields the same map.
#pragma once

#include <string>
#include <vector>

#include "topology/map.hpp"

namespace cotillion {

// `remarks` become comments at the head, wrapped, one paragraph each. The map must be sound, its
// rates whole bits per second, and all edges alike but for their memory: what read_map returns.
[[nodiscard]] std::string write_map(const Map& map, const std::vector<std::string>& remarks = {});

// Exact quantities as the reader takes them: "49.4ms", "32GB", "155Mbps".
[[nodiscard]] std::string exact_text(Duration duration);
[[nodiscard]] std::string exact_text(Bytes bytes);
[[nodiscard]] std::string exact_text(BitsPerSecond rate);

}  // namespace cotillion
