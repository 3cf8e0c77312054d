#include "report/outcome_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/realised_mixing.hpp"
#include "report/table.hpp"

namespace cotillion {
namespace {

using Align = Table::Align;
constexpr std::size_t kRoundsShown = 12;
constexpr std::size_t kAbsencesShown = 12;

std::string names_of(const Map& map, const std::vector<IslandId>& islands) {
  std::string text;
  for (const IslandId island : islands)
    text += (text.empty() ? "" : " ") + map.islands[std::size_t(island)].name;
  return text;
}

RealisedLoss loss_of(const PlanFile& plan, const Outcome& outcome) {
  std::vector<std::vector<double>> rounds;
  for (const RoundOutcome& round : outcome.rounds) rounds.push_back(round.mixing);
  return realised_loss(rounds, plan.map.island_count());
}

std::string rounds_text(const PlanFile& plan, const Outcome& outcome) {
  Table table({{"round", Align::kRight},
               {"clique"},
               {"planned ms", Align::kRight},
               {"simulated ms", Align::kRight},
               {"later by", Align::kRight},
               {""}});
  for (std::size_t k = 0; k < std::min(outcome.rounds.size(), kRoundsShown); ++k)
    for (const CliqueOutcome& clique : outcome.rounds[k].cliques) {
      if (clique.islands.size() < 2) continue;
      table.add({fmt::format("{}", outcome.rounds[k].round), names_of(plan.map, clique.islands),
                 fmt::format("{:.3f}", clique.planned.ms()),
                 fmt::format("{:.3f}", clique.measured.ms()),
                 to_text(clique.measured - clique.planned),
                 clique.complete ? "complete" : "something is missing"});
    }
  std::string text = table.text();
  if (outcome.rounds.size() > kRoundsShown)
    text += fmt::format("… and {} more rounds\n", outcome.rounds.size() - kRoundsShown);
  return text;
}

std::string absences_text(const PlanFile& plan, const Outcome& outcome) {
  std::string text;
  std::size_t count = 0;
  for (const RoundOutcome& round : outcome.rounds)
    for (const AbsenceOutcome& absence : round.absences) {
      if (++count > kAbsencesShown) continue;
      text += fmt::format("round {}: {} lacks {} in {} chunks, from chunk {} on\n", round.round,
                          plan.map.islands[std::size_t(absence.receiver)].name,
                          plan.map.islands[std::size_t(absence.contributor)].name, absence.chunks,
                          absence.first_chunk);
    }
  if (count > kAbsencesShown) text += fmt::format("… and {} more\n", count - kAbsencesShown);
  return text;
}

std::string edges_text(const PlanFile& plan, const Outcome& outcome) {
  Table table({{"edge of"},
               {"peak", Align::kRight},
               {"planned", Align::kRight},
               {"results", Align::kRight},
               {"timeouts", Align::kRight},
               {"conflicts", Align::kRight},
               {"late", Align::kRight},
               {"resends", Align::kRight},
               {"dropped", Align::kRight}});
  for (const EdgeOutcome& edge : outcome.edges) {
    const EdgeCounters& counts = edge.counters;
    const std::uint64_t dropped = counts[EdgeCount::kDuplicates] + counts[EdgeCount::kOverlaps] +
                                  counts[EdgeCount::kForged] + counts[EdgeCount::kUnexpected] +
                                  counts[EdgeCount::kStaleRound] + counts[EdgeCount::kNotFinite] +
                                  counts[EdgeCount::kUnknownBoot] + counts[EdgeCount::kOverRate];
    table.add({plan.map.islands[std::size_t(edge.island)].name, to_text(edge.memory_peak),
               to_text(edge.memory_planned), fmt::format("{}", counts[EdgeCount::kResults]),
               fmt::format("{}", counts[EdgeCount::kTimeouts]),
               fmt::format("{}", counts[EdgeCount::kConflicts]),
               fmt::format("{}", counts[EdgeCount::kLate]),
               fmt::format("{}", counts[EdgeCount::kResends]), fmt::format("{}", dropped)});
  }
  return table.text();
}

template <class Which, std::size_t kSize>
Json counters_json(const Counters<Which, kSize>& counters) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kSize; ++i) json[name_of(Which(i))] = counters[Which(i)];
  return json;
}

Json round_json(const PlanFile& plan, const RoundOutcome& round) {
  const auto name = [&](IslandId island) { return plan.map.islands[std::size_t(island)].name; };
  Json cliques = Json::array(), absences = Json::array(), mixing = Json::array();
  for (const CliqueOutcome& clique : round.cliques) {
    Json islands = Json::array();
    for (const IslandId island : clique.islands) islands.push_back(name(island));
    cliques.push_back({{"islands", islands},
                       {"planned_ms", clique.planned.ms()},
                       {"measured_ms", clique.measured.ms()},
                       {"complete", clique.complete}});
  }
  for (const AbsenceOutcome& absence : round.absences)
    absences.push_back({{"at", name(absence.receiver)},
                        {"from", name(absence.contributor)},
                        {"chunks", absence.chunks},
                        {"first_chunk", absence.first_chunk}});
  const std::size_t n = plan.map.islands.size();
  for (std::size_t i = 0; i < n && round.mixing.size() == n * n; ++i)
    mixing.push_back(std::vector<double>(round.mixing.begin() + std::ptrdiff_t(i * n),
                                         round.mixing.begin() + std::ptrdiff_t((i + 1) * n)));
  return {{"round", round.round},
          {"planned_ms", round.planned.ms()},
          {"measured_ms", round.measured.ms()},
          {"cliques", cliques},
          {"absences", absences},
          {"mixing", mixing}};
}

}  // namespace

bool holds(const Outcome& outcome) {
  return std::all_of(outcome.rounds.begin(), outcome.rounds.end(),
                     [](const RoundOutcome& round) { return round.absences.empty(); }) &&
         std::all_of(outcome.edges.begin(), outcome.edges.end(), [](const EdgeOutcome& edge) {
           return edge.counters[EdgeCount::kTimeouts] == 0 &&
                  edge.counters[EdgeCount::kConflicts] == 0;
         });
}

std::string outcome_text(const PlanFile& plan, const Outcome& outcome) {
  std::string text = fmt::format(
      "{} simulated round{} of {} (rounds longer by {} than planned, for whole packets)\n\n",
      outcome.rounds.size(), outcome.rounds.size() == 1 ? "" : "s", plan.plan.schedule,
      to_text(outcome.added_slack));
  text += rounds_text(plan, outcome) + "\n" + edges_text(plan, outcome);
  const auto fullest = std::max_element(
      outcome.lanes.begin(), outcome.lanes.end(),
      [](const LaneOutcome& a, const LaneOutcome& b) { return a.queue_longest < b.queue_longest; });
  if (fullest != outcome.lanes.end())
    text += fmt::format("\nlongest queue: {} on {}\n", to_text(fullest->queue_longest),
                        lane_name(plan.map, fullest->lane));
  std::uint64_t lost = 0;
  for (const LaneOutcome& lane : outcome.lanes) lost += lane.lost;
  if (lost > 0) text += fmt::format("lost on the way: {} packets\n", lost);
  const std::string absences = absences_text(plan, outcome);
  if (!absences.empty()) text += "\n" + absences;
  if (outcome.rounds.size() > 1) {
    const RealisedLoss loss = loss_of(plan, outcome);
    text += fmt::format(
        "sum of surviving disagreement over these rounds: {:.4f}, between islands {:.4f}, drift of "
        "their mean {:.4f}\n",
        loss.total, loss.disagreement, loss.drift);
  }
  text += holds(outcome) ? "the plan holds\n" : "the plan does not hold as played\n";
  return text;
}

Json outcome_json(const PlanFile& plan, const Outcome& outcome, const Provenance& made_by) {
  Json json = to_json(made_by);
  json["kind"] = "simulated";
  json["map"] = plan.map.name;
  json["schedule"] = plan.plan.schedule;
  json["holds"] = holds(outcome);
  json["added_slack_ms"] = outcome.added_slack.ms();
  json["played_ms"] = outcome.played.ms();
  Json rounds = Json::array(), edges = Json::array(), islands = Json::array(),
       lanes = Json::array();
  for (const RoundOutcome& round : outcome.rounds) rounds.push_back(round_json(plan, round));
  for (const EdgeOutcome& edge : outcome.edges)
    edges.push_back({{"island", plan.map.islands[std::size_t(edge.island)].name},
                     {"memory_peak_bytes", edge.memory_peak.count},
                     {"memory_planned_bytes", edge.memory_planned.count},
                     {"counters", counters_json(edge.counters)}});
  for (std::size_t i = 0; i < outcome.receivers.size(); ++i)
    islands.push_back({{"island", plan.map.islands[i].name},
                       {"sent", outcome.senders[i].sent},
                       {"counters", counters_json(outcome.receivers[i])}});
  for (const LaneOutcome& lane : outcome.lanes)
    lanes.push_back({{"lane", lane.lane},
                     {"from", lane_from(plan.map, lane.lane)},
                     {"to", lane_to(plan.map, lane.lane)},
                     {"bytes", lane.bytes.count},
                     {"packets", lane.packets},
                     {"lost", lane.lost},
                     {"queue_longest_ms", lane.queue_longest.ms()}});
  const RealisedLoss loss = loss_of(plan, outcome);
  json["rounds"] = rounds;
  json["edges"] = edges;
  json["islands"] = islands;
  json["links"] = lanes;
  json["loss"] = {
      {"total", loss.total}, {"disagreement", loss.disagreement}, {"drift", loss.drift}};
  json["packet_hops"] = outcome.hops;
  return json;
}

}  // namespace cotillion
