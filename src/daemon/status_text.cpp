#include "daemon/status_text.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/text.hpp"

namespace cotillion {

std::string to_prometheus_text(const Metrics& metrics) {
  std::vector<prometheus::MetricFamily> families;
  for (const Metric& metric : metrics) {
    const bool counter = metric.kind == MetricKind::kCounter;
    COTILLION_CHECK(counter == metric.name.ends_with("_total"));
    auto family = std::find_if(families.begin(), families.end(),
                               [&](const auto& known) { return known.name == metric.name; });
    if (family == families.end()) {
      families.push_back({metric.name,
                          metric.help,
                          counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge,
                          {}});
      family = families.end() - 1;
    }
    prometheus::ClientMetric& one = family->metric.emplace_back();
    for (const auto& [name, value] : metric.labels) one.label.push_back({name, shown(value, 200)});
    (counter ? one.counter.value : one.gauge.value) = metric.value;
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace cotillion
