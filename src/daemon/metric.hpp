// A number that a daemon shows: what it is called, what it means, for whom it stands. Counters are
// turned into these, and these into what Prometheus reads (daemon/status_text.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cotillion {

enum class MetricKind : std::uint8_t {
  kCounter,  // only grows; its name ends in _total
  kGauge,
};

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

struct Metric {
  std::string name;  // "cotillion_edge_packets_total"
  std::string help;  // a sentence
  MetricKind kind = MetricKind::kCounter;
  MetricLabels labels;  // {{"island", "TYO"}}
  double value = 0;
};
using Metrics = std::vector<Metric>;

}  // namespace cotillion
