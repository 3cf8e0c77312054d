// Outcomes beside their plan, for programs; docs/reference/files.md describes every field.
#include "job/edge_memory.hpp"

#include <nlohmann/json.hpp>
#include "report/side_by_side_report.hpp"

namespace cotillion {
namespace {

Json names_json(const SideBySide& sides, const std::vector<IslandId>& islands) {
  Json names = Json::array();
  for (const IslandId island : islands) names.push_back(sides.islands[island]);
  return names;
}

Json time_spread_json(const Spread& times, Duration planned) {
  if (times.count == 0) return {{"times", 0}};
  return {{"times", times.count},
          {"median_ms", times.median.ms()},
          {"least_ms", times.least.ms()},
          {"most_ms", times.most.ms()},
          {"later_ms", (times.median - planned).ms()}};
}

Json columns_json(const SideBySide& sides) {
  Json list = Json::array();
  for (const OutcomeColumn& column : sides.columns) {
    Json outcomes = Json::array();
    for (const NamedOutcome* outcome : column.outcomes) {
      const OutcomeFile& file = outcome->file;
      const auto loss = file.loss();
      Json realised = nullptr;
      if (loss)
        realised = {
            {"total", loss->total}, {"disagreement", loss->disagreement}, {"drift", loss->drift}};
      outcomes.push_back({{"file", outcome->name},
                          {"rounds", file.outcome.rounds.size()},
                          {"seed", file.made_by.seed},
                          {"holds", holds(file.outcome)},
                          {"planned_loss", file.outcome.planned_loss},
                          {"loss", realised},
                          {"exact", exact_json(file.outcome)}});
    }
    const OutcomeFile& first = column.outcomes.front()->file;
    Json settings = Json::object();
    for (const auto& [name, value] : first.outcome.settings) settings[name] = value;
    list.push_back({{"title", column.title},
                    {"kind", to_name(first.kind)},
                    {"rounds", column.rounds},
                    {"settings", settings},
                    {"outcomes", outcomes}});
  }
  return list;
}

Json cliques_json(const SideBySide& sides) {
  Json list = Json::array();
  for (const CliqueRow& clique : sides.cliques) {
    Json seen = Json::array();
    for (const CliqueSeen& entry : clique.seen) {
      Json json = time_spread_json(entry.time, clique.planned), missing = Json::array();
      for (const MissingFrom& absent : entry.missing)
        missing.push_back({{"from", sides.islands[absent.contributor]}, {"chunks", absent.chunks}});
      json["emulator_ms"] = entry.emulator.ms();
      json["incomplete"] = entry.incomplete;
      json["missing"] = std::move(missing);
      seen.push_back(std::move(json));
    }
    list.push_back({{"round", clique.phase + 1},
                    {"islands", names_json(sides, clique.islands)},
                    {"planned_ms", clique.planned.ms()},
                    {"store_and_forward_ms", clique.store_and_forward.ms()},
                    {"seen", seen}});
  }
  return list;
}

Json arrivals_json(const SideBySide& sides) {
  Json list = Json::array();
  for (const ArrivalRow& arrival : sides.arrivals) {
    Json seen = Json::array();
    for (const Spread& times : arrival.seen)
      seen.push_back(time_spread_json(times, arrival.planned));
    list.push_back({{"round", arrival.phase + 1},
                    {"from", sides.islands[arrival.sender]},
                    {"at", sides.islands[arrival.receiver]},
                    {"planned_ms", arrival.planned.ms()},
                    {"seen", seen}});
  }
  return list;
}

Json edges_json(const SideBySide& sides) {
  Json list = Json::array();
  for (const EdgeRow& edge : sides.edges) {
    Json seen = Json::array();
    for (std::size_t c = 0; c < edge.seen.size(); ++c) {
      const EdgeSeen& entry = edge.seen[c];
      Json counters = Json::object();
      for (std::size_t i = 0; i < kEdgeCounts; ++i)
        counters[name_of(EdgeCount(i))] = entry.counters[EdgeCount(i)];
      if (!entry.known) {
        seen.push_back(nullptr);
        continue;
      }
      Json json{{"memory_peak_bytes", entry.memory_peak.count},
                {"late_ms", entry.late.ms()},
                {"late_packets", entry.late_packets},
                {"counters", counters}};
      if (const auto beyond = beyond_simulated(sides, edge, c))
        json["beyond_simulated"] = {{"packets", beyond->packets},
                                    {"packets_a_stream", beyond->a_stream},
                                    {"verdict", to_name(beyond->verdict)}};
      seen.push_back(std::move(json));
    }
    list.push_back({{"island", sides.islands[edge.island]},
                    {"memory_planned_bytes", edge.memory_planned.count},
                    {"slot_bytes", edge.slot.count},
                    {"streams", edge.streams},
                    {"seen", seen}});
  }
  return list;
}

Json lanes_json(const SideBySide& sides) {
  Json list = Json::array();
  for (const LaneRow& lane : sides.lanes) {
    Json seen = Json::array();
    for (const LaneSeen& entry : lane.seen)
      seen.push_back(entry.known ? Json{{"bytes_a_round", entry.bytes},
                                        {"of_planned", entry.of_planned},
                                        {"lost", entry.lost},
                                        {"queue_longest_ms", entry.queue_longest.ms()},
                                        {"late_p50_ms", entry.late_median.ms()},
                                        {"late_p99_ms", entry.late_p99.ms()},
                                        {"late_max_ms", entry.late_most.ms()}}
                                 : Json(nullptr));
    list.push_back({{"lane", lane.lane},
                    {"from", lane.ends.from},
                    {"to", lane.ends.to},
                    {"planned_bytes_a_round", lane.planned},
                    {"packet_ms", lane.packet.ms()},
                    {"seen", seen}});
  }
  return list;
}

Json mixing_json(const SideBySide& sides) {
  Json list = Json::array();
  const auto n = std::ptrdiff_t(sides.islands.size());
  for (const MixingSeen& seen : sides.mixing) {
    Json rows = Json::array();
    for (std::ptrdiff_t i = 0; i < n; ++i)
      rows.push_back(
          std::vector<double>(seen.matrix.begin() + i * n, seen.matrix.begin() + (i + 1) * n));
    list.push_back({{"round", seen.phase + 1}, {"column", seen.column}, {"matrix", rows}});
  }
  return list;
}

}  // namespace

Json to_json(const SideBySide& sides) {
  return {{"plan", sides.plan},
          {"map", sides.map},
          {"schedule", sides.schedule},
          {"period", sides.period},
          {"islands", sides.islands},
          {"columns", columns_json(sides)},
          {"cliques", cliques_json(sides)},
          {"arrivals", arrivals_json(sides)},
          {"edges", edges_json(sides)},
          {"links", lanes_json(sides)},
          {"mixing", mixing_json(sides)}};
}

}  // namespace cotillion
