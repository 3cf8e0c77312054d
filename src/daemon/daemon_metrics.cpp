#include "daemon/daemon_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"

namespace cotillion {
namespace {

struct Meaning {
  const char* help;
  const char* advice = "";
};
template <class Which, std::size_t kSize>
using Meanings = std::array<std::pair<Which, Meaning>, kSize>;

// Whether every count has its line, and in the order of its enumeration.
template <class Which, std::size_t kSize>
constexpr bool in_order(const Meanings<Which, kSize>& meanings) {
  for (std::size_t i = 0; i < kSize; ++i)
    if (meanings[i].first != Which(i) || meanings[i].second.help == nullptr) return false;
  return true;
}

using Host = HostCount;
constexpr Meanings<HostCount, kHostCounts> kHostMeanings = {{
    {Host::kPackets, {"Packets heard, on groups and as requests", ""}},
    {Host::kBytes, {"Bytes of the packets heard", ""}},
    {Host::kPieces,
     {"Pieces in which packets came; a coalesced run is one",
      "packets for each piece: how well the network card coalesces"}},
    {Host::kBatches, {"Calls that brought packets", ""}},
    {Host::kDirect,
     {"Packets that came by AF_XDP", "0 with `--direct`: the driver does not carry it"}},
    {Host::kOverflowed,
     {"Packets that the kernel had no room to keep",
      "raise `net.core.rmem_max`, add shards or give each a core"}},
    {Host::kRequests, {"Packets from the island", ""}},
    {Host::kStrangers,
     {"Packets to no group of this edge, or from nobody it knows",
      "an address in the plan, in `--source` or in a route is wrong, or someone probes"}},
    {Host::kTruncated,
     {"Packets longer than any of this protocol", "another program uses the port or the group"}},
    {Host::kMalformed,
     {"Packets that are none of this protocol", "another program uses the port or the group"}},
    {Host::kForeign, {"Packets of a job that is not served here", "two jobs share a group"}},
    {Host::kSent, {"Packets sent", ""}},
    {Host::kSentBytes, {"Bytes of the packets sent", ""}},
    {Host::kUnsent,
     {"Packets that could not be sent: no room in the socket, or nobody there",
      "the island's link is slower than the plan believes, or its address is wrong"}},
    {Host::kInjected,
     {"Packets lost, doubled, delayed or damaged on purpose (`--lose`)",
      "must be 0 outside of tests"}},
    {Host::kRoundsOpened, {"Rounds opened, once for each shard", ""}},
    {Host::kRoundsRefused,
     {"Rounds that were told in a way that makes no sense", "must be 0; report it"}},
    {Host::kOpenSlots, {"Sums that are being added up now", ""}},
    {Host::kOpenSlotsPeak,
     {"The most sums that were open at once", "near the planned slots: memory is used up"}},
    {Host::kResendOverruns,
     {"Sums overwritten before their time to be asked for was over", "raise `edge.resend`"}},
}};
static_assert(in_order(kHostMeanings));

constexpr Meanings<EdgeCount, kEdgeCounts> kEdgeMeanings = {{
    {EdgeCount::kAccepted, {"Contributions that entered a sum", ""}},
    {EdgeCount::kResults, {"Chunks that went out whole", "should be nearly all of `outputs`"}},
    {EdgeCount::kTimeouts,
     {"Sums put out by their deadline, not whole",
      "packets were lost, a sender is slow, or clocks are apart: see `overflowed`, slips, clocks"}},
    {EdgeCount::kConflicts,
     {"Sums put out by a newer chunk", "more was under way than planned: give memory or slack"}},
    {EdgeCount::kCompletedPartials, {"Last parts of chunks of which parts went before", ""}},
    {EdgeCount::kLate,
     {"Contributions passed through after their deadline",
      "raise `--grace` if clocks allow no better"}},
    {EdgeCount::kDuplicates, {"Contributions seen before", "harmless; many: a loop in the routes"}},
    {EdgeCount::kOverlaps,
     {"Sums of which a part was seen before", "must be 0 without chained edges"}},
    {EdgeCount::kForged,
     {"Packets whose seal does not hold", "damage on the way, or somebody who has no key"}},
    {EdgeCount::kUnknownBoot,
     {"Packets from a source that has not announced itself", "a few at every start"}},
    {EdgeCount::kUnexpected,
     {"Packets of another epoch, clique, contributor, weight, element or exponent than planned",
      "a few at every start; many: somebody plays another plan"}},
    {EdgeCount::kStaleRound, {"Packets of a round that is not live", "far too late, or replayed"}},
    {EdgeCount::kNotFinite,
     {"Contributions with a NaN or an infinity", "training diverges at their sender"}},
    {EdgeCount::kOverRate,
     {"Packets beyond the job's share of this edge", "a sender paces wrongly"}},
    {EdgeCount::kOutputs, {"Sums sent in", ""}},
    {EdgeCount::kResends, {"Sums sent in again", "losses between edge and island"}},
    {EdgeCount::kResendsSpared, {"Sums asked for while the answer was under way", ""}},
    {EdgeCount::kGone, {"Sums asked for and no longer kept", "raise `edge.resend`"}},
    {EdgeCount::kRepairsAsked, {"Contributions asked for again before they are summed: none", ""}},
    {EdgeCount::kRepaired,
     {"Contributions that came marked as sent again", "must be 0: senders repeat nothing"}},
}};
static_assert(in_order(kEdgeMeanings));

constexpr Meanings<ReceiverCount, kReceiverCounts> kReceiverMeanings = {{
    {ReceiverCount::kPlaced, {"Sums taken in", ""}},
    {ReceiverCount::kWhole, {"Chunks that came in one piece", "should be nearly all of `placed`"}},
    {ReceiverCount::kLate, {"Sums that came after their fragment was merged", "give more slack"}},
    {ReceiverCount::kTooLate, {"Sums that came when there was nowhere to keep them any more", ""}},
    {ReceiverCount::kDuplicates, {"Sums seen before", "harmless"}},
    {ReceiverCount::kOverlaps, {"Sums of which a part was seen before", "must be 0"}},
    {ReceiverCount::kMalformed,
     {"Packets that are none of this protocol", "another program uses the port"}},
    {ReceiverCount::kForged,
     {"Packets whose seal does not hold", "damage on the way, or somebody who has no key"}},
    {ReceiverCount::kUnknownBoot,
     {"Packets before the edge announced itself", "a few at every start"}},
    {ReceiverCount::kUnexpected,
     {"Sums of another job, epoch, clique, contributor, weight, element or exponent than planned",
      "the edge plays another plan"}},
    {ReceiverCount::kStaleRound, {"Sums of a round that is not live", ""}},
    {ReceiverCount::kNotFinite, {"Sums with a NaN or an infinity", "must be 0: edges stop these"}},
    {ReceiverCount::kAsked, {"Sums asked for again", "losses between edge and island"}},
    {ReceiverCount::kGone, {"Sums asked for that the edge no longer had", "raise `edge.resend`"}},
    {ReceiverCount::kRestarts, {"Restarts of the edge that were noticed", ""}},
    {ReceiverCount::kUnmerged,
     {"Fragments whose correction nobody took in time", "training is slower than its rounds"}},
    {ReceiverCount::kOvertaken,
     {"Fragments, and late chunks, that came after the next copy of the fragment",
      "give more slack"}},
}};
static_assert(in_order(kReceiverMeanings));

struct SenderMeaning {
  const char* name;
  std::uint64_t SenderCounters::*count;
  Meaning meaning;
};
constexpr std::array<SenderMeaning, 9> kSenderMeanings = {{
    {"sent", &SenderCounters::sent, {"Chunks sent", ""}},
    {"resent", &SenderCounters::resent, {"Chunks sent again because they were asked for", ""}},
    {"zero", &SenderCounters::zero, {"Chunks of nothing but zeros, sent without payload", ""}},
    {"clamped",
     &SenderCounters::clamped,
     {"Chunks with values beyond the grid of an i32 job, clamped", "the exponent is too small"}},
    {"withheld",
     &SenderCounters::withheld,
     {"Chunks not sent because of a NaN or an infinity", "training diverges here"}},
    {"forged",
     &SenderCounters::forged,
     {"Requests whose seal does not hold", "damage on the way, or somebody who has no key"}},
    {"unexpected", &SenderCounters::unexpected, {"Requests that make no sense", ""}},
    {"slipped_seconds",
     &SenderCounters::slipped_ps,
     {"Time by which departures were late and could not be made up for",
      "the host is too busy, or its link slower than planned"}},
    {"late_max_seconds",
     &SenderCounters::late_ps,
     {"The most that a departure was late, made up for or not",
      "edges hold slots for as long: above `--grace` they put them out"}},
}};

std::string metric_name(const SenderMeaning& sender) {
  const bool gauge = sender.count == &SenderCounters::late_ps;
  return fmt::format("cotillion_sender_{}{}", sender.name, gauge ? "" : "_total");
}

struct OtherMeaning {
  const char* name;
  MetricKind kind;
  Meaning meaning;
};
constexpr OtherMeaning kOtherMeanings[] = {
    {"cotillion_clock_known",
     MetricKind::kGauge,
     {"1 if PTP, NTP or the kernel vouches for this host's clock", "0: only pings tell"}},
    {"cotillion_clock_ahead_seconds",
     MetricKind::kGauge,
     {"How far the clock is believed to be ahead of true time", ""}},
    {"cotillion_clock_error_seconds",
     MetricKind::kGauge,
     {"How far off that belief may be", "above `--grace`: jobs are refused"}},
    {"cotillion_member_state",
     MetricKind::kGauge,
     {"1 for the state this edge or island is in, 0 for the others", ""}},
    {"cotillion_member_round", MetricKind::kGauge, {"The round that is in play; 0 before", ""}},
    {"cotillion_member_rounds_reported_total",
     MetricKind::kCounter,
     {"Rounds that were played and reported", ""}},
    {"cotillion_member_chunks_missing_total",
     MetricKind::kCounter,
     {"Contributions that were missing from sums, in chunks, over all rounds",
      "the log names who, round by round"}},
    {"cotillion_island_packets_total", MetricKind::kCounter, {"Packets heard from the edge", ""}},
    {"cotillion_island_sent_total", MetricKind::kCounter, {"Packets sent", ""}},
    {"cotillion_island_unsent_total",
     MetricKind::kCounter,
     {"Packets that could not be sent: no room in the socket",
      "the island's link is slower than the plan believes"}},
    {"cotillion_island_overflowed_total",
     MetricKind::kCounter,
     {"Packets from the edge that the kernel had no room to keep", "raise `net.core.rmem_max`"}},
    {"cotillion_island_strangers_total",
     MetricKind::kCounter,
     {"Packets that did not come from the edge", "an address is wrong, or someone probes"}},
    {"cotillion_island_corrections_total",
     MetricKind::kCounter,
     {"Corrections put into the exchange region", ""}},
    {"cotillion_island_steps_total",
     MetricKind::kCounter,
     {"Steps that training code has taken", "stands still: training hangs"}},
    {"cotillion_island_copy_age_max_seconds",
     MetricKind::kGauge,
     {"The oldest copy of a fragment that was sent, since it was offered",
      "far above a step: training looks in too rarely"}},
    {"cotillion_island_sums_max_bytes",
     MetricKind::kGauge,
     {"The most memory that sums waiting to be merged have taken, beside the region",
      "near the size of the model: training or this machine is far behind"}},
    {"cotillion_island_held_up_seconds_total",
     MetricKind::kCounter,
     {"Time for which copies waited because training code held their fragment",
      "training keeps corrections for too long"}},
    {"cotillion_coordinator_state",
     MetricKind::kGauge,
     {"1 for the state the job is in, 0 for the others", ""}},
    {"cotillion_coordinator_rounds", MetricKind::kGauge, {"Rounds that the job is to play", ""}},
    {"cotillion_coordinator_rounds_reported_total",
     MetricKind::kCounter,
     {"Rounds reported by everyone who is left", "stands still: see `awaited`"}},
    {"cotillion_coordinator_members",
     MetricKind::kGauge,
     {"Islands and edges that the plan needs", ""}},
    {"cotillion_coordinator_members_joined",
     MetricKind::kGauge,
     {"Islands and edges that are connected", ""}},
    {"cotillion_coordinator_members_awaited",
     MetricKind::kGauge,
     {"Members whose joining, readiness, report or stopping is waited for",
      "`/status` names them"}},
    {"cotillion_coordinator_members_lost_total",
     MetricKind::kCounter,
     {"Members that the job went on without", "`/status` says why"}},
    {"cotillion_coordinator_member_clock_ahead_seconds",
     MetricKind::kGauge,
     {"How far a member's clock is believed to be ahead of the coordinator's", ""}},
    {"cotillion_coordinator_member_clock_error_seconds",
     MetricKind::kGauge,
     {"How far off that belief may be",
      "the two largest together above `--grace`: the job is refused"}},
};

bool is_gauge(HostCount count) {
  return count == HostCount::kOpenSlots || count == HostCount::kOpenSlotsPeak;
}

template <class Which>
std::string metric_name(const char* who, Which which) {
  if constexpr (std::is_same_v<Which, HostCount>)
    if (is_gauge(which)) return fmt::format("cotillion_{}_{}", who, name_of(which));
  return fmt::format("cotillion_{}_{}_total", who, name_of(which));
}

template <class Which, std::size_t kSize>
void add_metrics(std::vector<MetricMeaning>& all, const char* who,
                 const Meanings<Which, kSize>& meanings) {
  for (const auto& [which, meaning] : meanings) {
    const std::string name = metric_name(who, which);
    all.push_back({name, meaning.help, meaning.advice,
                   name.ends_with("_total") ? MetricKind::kCounter : MetricKind::kGauge});
  }
}

std::vector<MetricMeaning> all_meanings() {
  std::vector<MetricMeaning> all;
  add_metrics(all, "edge", kHostMeanings);
  add_metrics(all, "edge", kEdgeMeanings);
  add_metrics(all, "receiver", kReceiverMeanings);
  for (const SenderMeaning& sender : kSenderMeanings)
    all.push_back(
        {metric_name(sender), sender.meaning.help, sender.meaning.advice,
         sender.count == &SenderCounters::late_ps ? MetricKind::kGauge : MetricKind::kCounter});
  for (const OtherMeaning& other : kOtherMeanings)
    all.push_back({other.name, other.meaning.help, other.meaning.advice, other.kind});
  return all;
}

template <class Which, std::size_t kSize>
void add_metrics(Metrics& metrics, const char* who, const Counters<Which, kSize>& counters,
                 const MetricLabels& labels) {
  for (std::size_t i = 0; i < kSize; ++i)
    metrics.push_back(metric_of(metric_name(who, Which(i)), labels, double(counters[Which(i)])));
}

}  // namespace

const std::vector<MetricMeaning>& metric_meanings() {
  static const std::vector<MetricMeaning> meanings = all_meanings();
  return meanings;
}

Metric metric_of(const std::string& name, const MetricLabels& labels, double value) {
  const auto& meanings = metric_meanings();
  const auto found = std::find_if(meanings.begin(), meanings.end(),
                                  [&](const MetricMeaning& known) { return known.name == name; });
  COTILLION_CHECK(found != meanings.end());
  return {name, found->help + ".", found->kind, labels, value};
}

Metrics to_metrics(const EdgeReading& reading, const MetricLabels& labels) {
  Metrics metrics;
  add_metrics(metrics, "edge", reading.host, labels);
  add_metrics(metrics, "edge", reading.edge, labels);
  return metrics;
}

Metrics to_metrics(const ReceiverCounters& counters, const MetricLabels& labels) {
  Metrics metrics;
  add_metrics(metrics, "receiver", counters, labels);
  return metrics;
}

Metrics to_metrics(const SenderCounters& counters, const MetricLabels& labels) {
  Metrics metrics;
  for (const SenderMeaning& sender : kSenderMeanings) {
    const bool time =
        sender.count == &SenderCounters::slipped_ps || sender.count == &SenderCounters::late_ps;
    metrics.push_back(
        metric_of(metric_name(sender), labels,
                  double(counters.*sender.count) / (time ? kPicosecondsPerSecond : 1)));
  }
  return metrics;
}

Metrics to_metrics(const IslandReading& reading, const MetricLabels& labels) {
  Metrics metrics = to_metrics(reading.receiver, labels);
  for (Metric& metric : to_metrics(reading.sender, labels)) metrics.push_back(std::move(metric));
  const auto put = [&](const char* name, double value) {
    metrics.push_back(metric_of(fmt::format("cotillion_island_{}", name), labels, value));
  };
  for (const HostCount count : {HostCount::kPackets, HostCount::kSent, HostCount::kUnsent,
                                HostCount::kOverflowed, HostCount::kStrangers})
    put(fmt::format("{}_total", name_of(count)).c_str(), double(reading.host[count]));
  put("corrections_total", double(reading.corrections));
  put("copy_age_max_seconds", double(reading.copy_age_max.ps) / kPicosecondsPerSecond);
  put("sums_max_bytes", double(reading.sums_max.count));
  put("held_up_seconds_total", double(reading.held_up.ps) / kPicosecondsPerSecond);
  return metrics;
}

Metrics to_metrics(const ClockEstimate& clock, const MetricLabels& labels) {
  Metrics metrics = {metric_of("cotillion_clock_known", labels, clock.known() ? 1 : 0)};
  if (!clock.known()) return metrics;
  metrics.push_back(
      metric_of("cotillion_clock_ahead_seconds", labels, double(clock.ahead_ns) / 1e9));
  metrics.push_back(
      metric_of("cotillion_clock_error_seconds", labels, double(clock.error_ns) / 1e9));
  return metrics;
}

}  // namespace cotillion
