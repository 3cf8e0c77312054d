// What daemons have counted, as metrics: one name, one sentence and one piece of advice for each,
// in one table that /metrics and docs/reference/metrics.md are made from.
#pragma once

#include <string>
#include <vector>

#include "daemon/edge_reading.hpp"
#include "daemon/island_host.hpp"
#include "daemon/metric.hpp"
#include "job/messages.hpp"
#include "protocol/sender.hpp"

namespace cotillion {

struct MetricMeaning {
  std::string name;    // "cotillion_edge_packets_total"
  std::string help;    // what is counted
  std::string advice;  // what it tells an operator; may be empty
  MetricKind kind = MetricKind::kCounter;
};
// Of everything that any daemon shows, in the order of the page: edge, receiver, sender, clocks,
// members, coordinator.
[[nodiscard]] const std::vector<MetricMeaning>& metric_meanings();
// A metric of that table; a name that is not in it is a mistake of ours.
[[nodiscard]] Metric metric_of(const std::string& name, const MetricLabels& labels, double value);

// For labels say who it is: {{"island", "TYO"}, {"shard", "0"}}.
[[nodiscard]] Metrics to_metrics(const EdgeReading& reading, const MetricLabels& labels);
[[nodiscard]] Metrics to_metrics(const ReceiverCounters& counters, const MetricLabels& labels);
[[nodiscard]] Metrics to_metrics(const SenderCounters& counters, const MetricLabels& labels);
[[nodiscard]] Metrics to_metrics(const IslandReading& reading, const MetricLabels& labels);
// How far the wall clock is trusted, by whom: nothing but `cotillion_clock_known 0` if by nobody.
[[nodiscard]] Metrics to_metrics(const ClockEstimate& clock, const MetricLabels& labels);

}  // namespace cotillion
