// Tables of links, one a line, in the two forms of doublezerofoundation/network-shapley-rs.
#pragma once

#include <string_view>

#include "topology/imported_network.hpp"

namespace cotillion {

// The header decides: device1,device2,latency,bandwidth or Start,End,Cost,Bandwidth, in any order
// and case. Latency and cost are in ms, bandwidth in Gbps; all other columns are ignored.
[[nodiscard]] ImportedNetwork read_csv_network(std::string_view text, const ImportOptions& options,
                                               Problems& problems);

}  // namespace cotillion
