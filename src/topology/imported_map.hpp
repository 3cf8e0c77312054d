// From an imported network to a sound map: devices of one metro become one place, parallel links
// one link, what is cut off is left out, and labels become names. Everything that this changes
// is said in a note, because a map that silently differs from its source is worse than none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/imported_network.hpp"
#include "topology/map.hpp"

namespace cotillion {

struct Imported {
  Map map;
  std::vector<std::string> notes;
};

// Nothing when there is no such map; the reasons have been added to `problems`.
[[nodiscard]] std::optional<Imported> make_imported_map(ImportedNetwork network,
                                                        const ImportOptions& options,
                                                        Problems& problems);

}  // namespace cotillion
