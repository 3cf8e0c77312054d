#include "daemon/daemon_metrics.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

namespace cotillion {
namespace {

using ::testing::HasSubstr;

const MetricLabels kTokyo = {{"island", "TYO"}};

const Metric& named(const Metrics& metrics, const std::string& name) {
  for (const Metric& metric : metrics)
    if (metric.name == name) return metric;
  ADD_FAILURE() << name;
  return metrics.front();
}

TEST(DaemonMetrics, NamesAreUniqueAndAsPrometheusWantsThem) {
  std::set<std::string> seen;
  for (const MetricMeaning& meaning : metric_meanings()) {
    EXPECT_TRUE(seen.insert(meaning.name).second) << meaning.name;
    EXPECT_THAT(meaning.name, ::testing::MatchesRegex("cotillion_[a-z_]+"));
    EXPECT_EQ(meaning.kind == MetricKind::kCounter, meaning.name.ends_with("_total"))
        << meaning.name;
    EXPECT_FALSE(meaning.help.empty()) << meaning.name;
    EXPECT_FALSE(meaning.help.ends_with('.')) << meaning.name;
  }
}

TEST(DaemonMetrics, AnEdgeShowsAllItCountsOnce) {
  EdgeReading reading;
  reading.host.add(HostCount::kPackets, 42);
  reading.host.add(HostCount::kOpenSlotsPeak, 7);
  reading.edge.add(EdgeCount::kTimeouts, 3);
  const Metrics metrics = to_metrics(reading, kTokyo);
  EXPECT_EQ(metrics.size(), kHostCounts + kEdgeCounts);
  const Metric& packets = named(metrics, "cotillion_edge_packets_total");
  EXPECT_EQ(packets.value, 42);
  EXPECT_EQ(packets.kind, MetricKind::kCounter);
  EXPECT_EQ(packets.labels, kTokyo);
  EXPECT_EQ(packets.help, "Packets heard, on groups and as requests.");
  EXPECT_EQ(named(metrics, "cotillion_edge_open_slots_peak").value, 7);
  EXPECT_EQ(named(metrics, "cotillion_edge_open_slots_peak").kind, MetricKind::kGauge);
  EXPECT_EQ(named(metrics, "cotillion_edge_open_slots").kind, MetricKind::kGauge);
  EXPECT_EQ(named(metrics, "cotillion_edge_timeouts_total").value, 3);
}

TEST(DaemonMetrics, AnIslandShowsItsReceiverAndItsSender) {
  ReceiverCounters receiver;
  receiver.add(ReceiverCount::kPlaced, 5);
  EXPECT_EQ(to_metrics(receiver, kTokyo).size(), kReceiverCounts);
  EXPECT_EQ(named(to_metrics(receiver, kTokyo), "cotillion_receiver_placed_total").value, 5);
  SenderCounters sender;
  sender.sent = 9;
  sender.slipped_ps = 1'500'000'000'000;
  sender.late_ps = 20'000'000'000;
  // Whoever adds a counter to a sender adds it here.
  EXPECT_EQ(to_metrics(sender, kTokyo).size(), sizeof(SenderCounters) / sizeof(std::uint64_t));
  EXPECT_EQ(named(to_metrics(sender, kTokyo), "cotillion_sender_sent_total").value, 9);
  EXPECT_EQ(named(to_metrics(sender, kTokyo), "cotillion_sender_slipped_seconds_total").value, 1.5);
  EXPECT_EQ(named(to_metrics(sender, kTokyo), "cotillion_sender_late_max_seconds").value, 0.02);
}

TEST(DaemonMetrics, AClockThatNobodyKnowsShowsNoNumbers) {
  const Metrics unknown = to_metrics(ClockEstimate{}, {});
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].value, 0);
  const Metrics known = to_metrics(ClockEstimate{-2'000'000, 500'000}, {});
  EXPECT_EQ(named(known, "cotillion_clock_known").value, 1);
  EXPECT_EQ(named(known, "cotillion_clock_ahead_seconds").value, -0.002);
  EXPECT_EQ(named(known, "cotillion_clock_error_seconds").value, 0.0005);
}

// The page for operators says what this table says; COTILLION_BLESS=1 writes it there.
TEST(DaemonMetrics, TheDocumentationHasThisTable) {
  const std::string path = COTILLION_SOURCE_DIR "/docs/reference/metrics.md";
  const std::string begin = "| metric | counts | tells |\n| --- | --- | --- |\n";
  std::string rows;
  for (const MetricMeaning& meaning : metric_meanings())
    rows += fmt::format("| `{}` | {} | {}|\n", meaning.name.substr(sizeof "cotillion_" - 1),
                        meaning.help, meaning.advice.empty() ? "" : meaning.advice + " ");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t at = text.find(begin);
  ASSERT_NE(at, std::string::npos) << "no table of metrics in " << path;
  const std::size_t from = at + begin.size();
  std::size_t to = from;
  while (text.compare(to, 1, "|") == 0) to = text.find('\n', to) + 1;
  if (std::getenv("COTILLION_BLESS") != nullptr)
    std::ofstream(path, std::ios::binary) << text.replace(from, to - from, rows);
  else
    EXPECT_EQ(text.substr(from, to - from), rows);
}

}  // namespace
}  // namespace cotillion
