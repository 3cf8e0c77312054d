#include "job/outcome_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.hpp"

namespace cotillion {
namespace {

template <class Which, std::size_t kSize>
Json counters_json(const Counters<Which, kSize>& counters) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kSize; ++i) json[name_of(Which(i))] = counters[Which(i)];
  return json;
}

Json arrivals_json(const OutcomeFile& file, const CliqueOutcome& clique) {
  Json list = Json::array();
  for (const ArrivalOutcome& arrival : clique.arrivals)
    list.push_back({{"at", file.islands[arrival.receiver]},
                    {"from", file.islands[arrival.sender]},
                    {"planned_ms", arrival.planned.ms()},
                    {"measured_ms", arrival.measured.ms()}});
  return list;
}

Json cliques_json(const OutcomeFile& file, const RoundOutcome& round) {
  Json list = Json::array();
  for (const CliqueOutcome& clique : round.cliques) {
    Json islands = Json::array();
    for (const IslandId island : clique.islands) islands.push_back(file.islands[island]);
    list.push_back({{"islands", std::move(islands)},
                    {"planned_ms", clique.planned.ms()},
                    {"measured_ms", clique.measured.ms()},
                    {"complete", clique.complete},
                    {"store_and_forward_ms", clique.store_and_forward.ms()},
                    {"emulator_ms", clique.emulator.ms()},
                    {"arrivals", arrivals_json(file, clique)}});
  }
  return list;
}

Json round_json(const OutcomeFile& file, const RoundOutcome& round) {
  Json absences = Json::array(), mixing = Json::array();
  for (const AbsenceOutcome& absence : round.absences)
    absences.push_back({{"at", file.islands[absence.receiver]},
                        {"from", file.islands[absence.contributor]},
                        {"chunks", absence.chunks},
                        {"first_chunk", absence.first_chunk}});
  const std::size_t n = file.islands.size();
  for (std::size_t i = 0; i < n && round.mixing.size() == n * n; ++i)
    mixing.push_back(std::vector<double>(round.mixing.begin() + std::ptrdiff_t(i * n),
                                         round.mixing.begin() + std::ptrdiff_t((i + 1) * n)));
  return {{"round", round.round},
          {"planned_ms", round.planned.ms()},
          {"measured_ms", round.measured.ms()},
          {"cliques", cliques_json(file, round)},
          {"absences", absences},
          {"mixing", mixing}};
}

Json edges_json(const OutcomeFile& file) {
  Json list = Json::array();
  for (const EdgeOutcome& edge : file.outcome.edges)
    list.push_back({{"island", file.islands[edge.island]},
                    {"memory_peak_bytes", edge.memory_peak.count},
                    {"memory_planned_bytes", edge.memory_planned.count},
                    {"slot_bytes", edge.slot.count},
                    {"streams", edge.streams},
                    {"late_ms", edge.late.ms()},
                    {"late_packets", edge.late_packets},
                    {"counters", counters_json(edge.counters)}});
  return list;
}

Json islands_json(const OutcomeFile& file) {
  Json list = Json::array();
  for (const IslandId i : all_ids<IslandId>(file.islands.size())) {
    const SenderCounters& sender = file.outcome.senders[i];
    list.push_back({{"island", file.islands[i]},
                    {"sent", sender.sent},
                    {"resent", sender.resent},
                    {"zero", sender.zero},
                    {"clamped", sender.clamped},
                    {"withheld", sender.withheld},
                    {"forged", sender.forged},
                    {"unexpected", sender.unexpected},
                    {"slipped_ms", Duration{std::int64_t(sender.slipped_ps)}.ms()},
                    {"late_ms", Duration{std::int64_t(sender.late_ps)}.ms()},
                    {"steps", file.outcome.steps[i]},
                    {"counters", counters_json(file.outcome.receivers[i])}});
  }
  return list;
}

Json lanes_json(const OutcomeFile& file) {
  Json list = Json::array();
  for (std::size_t i = 0; i < file.lanes.size(); ++i) {
    const LaneOutcome& lane = file.outcome.lanes[i];
    list.push_back({{"lane", lane.lane},
                    {"from", file.lanes[i].from},
                    {"to", file.lanes[i].to},
                    {"bytes", lane.bytes.count},
                    {"planned_bytes", lane.bytes_planned.count},
                    {"packets", lane.packets},
                    {"lost", lane.lost},
                    {"queue_longest_ms", lane.queue_longest.ms()},
                    {"packet_ms", lane.packet.ms()},
                    {"late_p50_ms", lane.late_median.ms()},
                    {"late_p99_ms", lane.late_p99.ms()},
                    {"late_max_ms", lane.late_most.ms()}});
  }
  return list;
}

Json loss_json(const OutcomeFile& file) {
  const auto loss = file.loss();
  const auto known = [&](double value) { return loss ? Json(value) : Json(nullptr); };
  const RealisedLoss values = loss.value_or(RealisedLoss{});
  return {{"planned", file.outcome.planned_loss},
          {"total", known(values.total)},
          {"disagreement", known(values.disagreement)},
          {"drift", known(values.drift)}};
}

}  // namespace

std::string_view to_name(OutcomeKind kind) {
  return kind == OutcomeKind::kSimulated ? "simulated" : "measured";
}

const std::string& OutcomeFile::plan() const {
  static const std::string kUnknown;
  for (const auto& [what, hash] : made_by.inputs)
    if (what == "plan") return hash;
  return kUnknown;
}

std::optional<RealisedLoss> OutcomeFile::loss() const {
  std::vector<std::vector<double>> matrices;
  for (const RoundOutcome& round : outcome.rounds) {
    if (round.mixing.size() != islands.size() * islands.size()) return std::nullopt;
    matrices.push_back(round.mixing);
  }
  return realised_loss(matrices, int(islands.size()));
}

OutcomeFile outcome_file(const PlanFile& plan, Outcome outcome, Provenance made_by,
                         OutcomeKind kind) {
  OutcomeFile file;
  file.made_by = std::move(made_by);
  file.kind = kind;
  file.map = plan.map.name;
  file.schedule = plan.plan.schedule;
  file.period = plan.plan.rounds.size();
  file.islands = island_names(plan.map);
  COTILLION_CHECK(outcome.receivers.size() == file.islands.size() &&
                  outcome.senders.size() == file.islands.size() &&
                  outcome.steps.size() == file.islands.size());
  for (const LaneOutcome& lane : outcome.lanes)
    file.lanes.push_back({lane_from(plan.map, lane.lane), lane_to(plan.map, lane.lane)});
  file.outcome = std::move(outcome);
  return file;
}

std::string names_of(const std::vector<std::string>& names, const std::vector<IslandId>& islands) {
  std::string text;
  for (const IslandId island : islands) text += (text.empty() ? "" : " ") + names[island];
  return text;
}

Json exact_json(const Outcome& outcome) {
  if (!outcome.exact) return nullptr;
  const auto& [planned, lived, rounds_needed] = *outcome.exact;
  return {{"planned_ms", planned.absolute.ms()},
          {"planned_squared_ms", planned.squared.ms()},
          {"lived_ms", lived ? Json(lived->absolute.ms()) : Json(nullptr)},
          {"lived_squared_ms", lived ? Json(lived->squared.ms()) : Json(nullptr)},
          {"rounds_needed", rounds_needed}};
}

Json to_json(const OutcomeFile& file) {
  COTILLION_CHECK(file.lanes.size() == file.outcome.lanes.size() &&
                  file.outcome.receivers.size() == file.islands.size() &&
                  file.outcome.senders.size() == file.islands.size() &&
                  file.outcome.steps.size() == file.islands.size());
  const Outcome& outcome = file.outcome;
  Json json = to_json(file.made_by);
  json["kind"] = to_name(file.kind);
  json["map"] = file.map;
  json["schedule"] = file.schedule;
  json["period"] = file.period;
  Json& settings = json["settings"] = Json::object();
  for (const auto& [name, value] : outcome.settings) settings[name] = value;
  json["holds"] = holds(outcome);
  json["added_slack_ms"] = outcome.added_slack.ms();
  json["played_ms"] = outcome.played.ms();
  Json& rounds = json["rounds"] = Json::array();
  for (const RoundOutcome& round : outcome.rounds) rounds.push_back(round_json(file, round));
  json["edges"] = edges_json(file);
  json["islands"] = islands_json(file);
  json["links"] = lanes_json(file);
  json["loss"] = loss_json(file);
  json["exact"] = exact_json(outcome);
  json["packet_hops"] = outcome.hops;
  return json;
}

bool holds(const Outcome& outcome) {
  return std::all_of(outcome.rounds.begin(), outcome.rounds.end(),
                     [](const RoundOutcome& round) { return round.absences.empty(); }) &&
         std::all_of(outcome.edges.begin(), outcome.edges.end(), [](const EdgeOutcome& edge) {
           return edge.counters[EdgeCount::kTimeouts] == 0 &&
                  edge.counters[EdgeCount::kConflicts] == 0;
         });
}

}  // namespace cotillion
