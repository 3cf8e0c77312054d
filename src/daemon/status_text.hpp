// Metrics in the form that Prometheus reads.
#pragma once

#include <string>

#include "daemon/metric.hpp"

namespace cotillion {

// Metrics of one name stand together, below its help and kind, which are those of the first.
// Bytes in labels that are no UTF-8 are shown as '?': a scraper would refuse the whole page.
[[nodiscard]] std::string to_prometheus_text(const Metrics& metrics);

}  // namespace cotillion
