#include "report/probe_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/table.hpp"

namespace cotillion {
namespace {

using Align = Table::Align;

std::string ms_cell(double value) {
  return fmt::format("{:.3f}", value);
}
std::string percent(double value) {
  return fmt::format("{:+.3f} %", value * 100);
}

struct Whole {
  ErrorHistogram lateness;
  std::uint64_t dropped = 0, overflowed = 0, lost = 0;
};

Whole whole_of(const WanCounters& counters) {
  Whole whole;
  for (const LaneCounters& lane : counters.lanes) {
    whole.lateness.add(lane.lateness);
    whole.dropped += lane.counts.dropped;
    whole.overflowed += lane.counts.overflowed;
    whole.lost += lane.counts.lost;
  }
  return whole;
}

double share_of_a_core(const WanCounters& counters) {
  return counters.wall.ps > 0 ? double(counters.cpu.ps) / double(counters.wall.ps) : 0;
}

// Medians over lanes, of what every lane has one of.
template <class Value>
double median_of(const std::vector<LaneMeasure>& links, Value value) {
  std::vector<double> values;
  for (const LaneMeasure& link : links)
    if (link.delay_ms.count > 0) values.push_back(value(link));
  return error_spread(std::move(values)).median;
}

Json error_spread_json(const ErrorSpread& spread) {
  return {{"count", spread.count},
          {"median", spread.median},
          {"p99", spread.p99},
          {"worst", spread.worst}};
}

Json lateness_json(const ErrorHistogram& lateness) {
  return {{"packets", lateness.count()},
          {"mean_ms", lateness.mean().ms()},
          {"p50_ms", lateness.quantile(0.5).ms()},
          {"p99_ms", lateness.quantile(0.99).ms()},
          {"max_ms", lateness.max().ms()}};
}

Table link_table(const Map& map, const ProbeOutcome& outcome) {
  Table table({{"lane"},
               {"rate", Align::kRight},
               {"latency", Align::kRight},
               {"delay error ms", Align::kRight},
               {"worst", Align::kRight},
               {"rate error", Align::kRight},
               {"packets", Align::kRight},
               {"planned", Align::kRight},
               {"elsewhere's", Align::kRight},
               {"late ms p50", Align::kRight},
               {"p99", Align::kRight},
               {"max", Align::kRight}});
  for (std::size_t at = 0; at < outcome.links.size(); ++at) {
    const LaneMeasure& link = outcome.links[at];
    const LaneCrossing& crossing = outcome.crossings[at];
    const ErrorHistogram& late = outcome.streams_counters.lanes[link.lane].lateness;
    table.add({lane_name(map, link.lane), to_text(lane_rate(map, link.lane)),
               to_text(lane_latency(map, link.lane)), ms_cell(link.delay_ms.median),
               ms_cell(link.delay_ms.worst), percent(link.rate.median),
               fmt::format("{}", crossing.seen), fmt::format("{}", crossing.expected),
               fmt::format("{}", crossing.elsewhere), ms_cell(late.quantile(0.5).ms()),
               ms_cell(late.quantile(0.99).ms()), ms_cell(late.max().ms())});
  }
  return table;
}

}  // namespace

std::string accuracy_text(const WanCounters& counters) {
  const Whole whole = whole_of(counters);
  std::string text = fmt::format(
      "The emulator emitted {} packets, late by {} ms on average, {} at the median, {} at p99, {} "
      "at most; it took {:.0f} % of a core, {}.",
      whole.lateness.count(), ms_cell(whole.lateness.mean().ms()),
      ms_cell(whole.lateness.quantile(0.5).ms()), ms_cell(whole.lateness.quantile(0.99).ms()),
      ms_cell(whole.lateness.max().ms()), 100 * share_of_a_core(counters),
      counters.realtime ? "at real-time priority" : "without real-time priority");
  if (counters.stolen > Duration{0})
    text += fmt::format(" The host of this machine took {} from it meanwhile.",
                        to_text(counters.stolen));
  if (whole.dropped > 0) text += fmt::format(" Queues dropped {}.", whole.dropped);
  if (whole.lost > 0) text += fmt::format(" Faults lost {}.", whole.lost);
  if (whole.overflowed + counters.starved + counters.refused > 0)
    text += fmt::format(
        " It failed {} of them itself: what came of this run is not the protocol's doing.",
        whole.overflowed + counters.starved + counters.refused);
  return text;
}

Json accuracy_json(const WanCounters& counters) {
  const Whole whole = whole_of(counters);
  Json json = lateness_json(whole.lateness);
  json["realtime"] = counters.realtime;
  json["core_share"] = share_of_a_core(counters);
  json["stolen_ms"] = counters.stolen.ms();
  json["dropped"] = whole.dropped;
  json["lost"] = whole.lost;
  json["failed"] = whole.overflowed + counters.starved + counters.refused;
  return json;
}

std::string probe_text(const Map& map, const ProbeOutcome& outcome) {
  std::string text = link_table(map, outcome).text();
  text += fmt::format(
      "\nLinks one by one ({} trains each): delay {:+.3f} ms at the median of all lanes, rate "
      "{}.\n",
      outcome.links.empty() ? 0 : outcome.links.front().delay_ms.count,
      median_of(outcome.links, [](const LaneMeasure& link) { return link.delay_ms.median; }),
      percent(median_of(outcome.links, [](const LaneMeasure& link) { return link.rate.median; })));
  text += fmt::format(
      "Streams: {} in {} rounds, {} packets sent, {} of {} copies heard. From end to end {:+.3f} "
      "ms "
      "at the median beyond flight and hops, {} at p99, waiting for other streams included; rate "
      "{} "
      "at the median, worst {}. The probe itself sent {} ms late at the median, {} at p99.\n",
      outcome.streams, outcome.rounds, outcome.sent, outcome.came, outcome.expected,
      outcome.delay_ms.median, ms_cell(outcome.delay_ms.p99), percent(outcome.rate.median),
      percent(outcome.rate.worst), ms_cell(outcome.sender_ms.median),
      ms_cell(outcome.sender_ms.p99));
  text += "With trains: " + accuracy_text(outcome.trains_counters) + "\n";
  text += "With streams: " + accuracy_text(outcome.streams_counters) + "\n";
  text += fmt::format("Before it began {:.2f} processes were running or waiting on {} cores.\n",
                      outcome.load, outcome.cores);
  if (outcome.problems.empty())
    return text +
           "Multicast is real: each stream crossed each link of its tree once, and no other.\n";
  text += "Not every stream crossed its tree once and nothing else:\n";
  for (const std::string& problem : outcome.problems) text += "  " + problem + "\n";
  return text;
}

Json probe_json(const Map& map, const ProbeOutcome& outcome) {
  Json json;
  json["rounds"] = outcome.rounds;
  json["streams"] = outcome.streams;
  json["sent"] = outcome.sent;
  json["copies_expected"] = outcome.expected;
  json["copies_heard"] = outcome.came;
  json["multicast_is_real"] = outcome.problems.empty();
  json["problems"] = outcome.problems;
  json["delay_error_ms"] = error_spread_json(outcome.delay_ms);
  json["rate_error"] = error_spread_json(outcome.rate);
  json["sent_late_ms"] = error_spread_json(outcome.sender_ms);
  json["load"] = outcome.load;
  json["cores"] = outcome.cores;
  json["emulator"] = {{"trains", accuracy_json(outcome.trains_counters)},
                      {"streams", accuracy_json(outcome.streams_counters)}};
  json["lanes"] = Json::array();
  for (std::size_t at = 0; at < outcome.links.size(); ++at) {
    const LaneMeasure& link = outcome.links[at];
    const LaneCrossing& crossing = outcome.crossings[at];
    const LaneCounters& lane = outcome.streams_counters.lanes[link.lane];
    json["lanes"].push_back({{"lane", link.lane},
                             {"from", lane_from(map, link.lane)},
                             {"to", lane_to(map, link.lane)},
                             {"rate_gbps", lane_rate(map, link.lane).gbps()},
                             {"latency_ms", lane_latency(map, link.lane).ms()},
                             {"delay_error_ms", error_spread_json(link.delay_ms)},
                             {"rate_error", error_spread_json(link.rate)},
                             {"packets", crossing.seen},
                             {"planned", crossing.expected},
                             {"elsewhere", crossing.elsewhere},
                             {"others", crossing.others},
                             {"dropped", lane.counts.dropped},
                             {"lost", lane.counts.lost},
                             {"queue_longest_ms", lane.counts.queue_longest.ms()},
                             {"lateness", lateness_json(lane.lateness)}});
  }
  return json;
}

}  // namespace cotillion
