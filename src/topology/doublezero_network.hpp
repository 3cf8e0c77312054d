// What `doublezero link list --json` prints, as a network of devices.
#pragma once

#include <string_view>

#include "topology/imported_network.hpp"

namespace cotillion {

// An array of links, or an object that holds one (in `links`, when it holds several arrays). Of a
// link are read: side_a_name or side_a, side_z_name or side_z; bandwidth in bit/s, a number or
// text such as "10Gbps"; delay_ns, taken as one way; jitter_ns; status. Links whose status is
// neither active nor activated, in any case, are left out. All other fields are ignored.
[[nodiscard]] ImportedNetwork read_doublezero_network(std::string_view text,
                                                      const ImportOptions& options,
                                                      Problems& problems);

}  // namespace cotillion
