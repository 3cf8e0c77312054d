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
      if (absence.receiver == absence.contributor) {
        text += fmt::format("round {}: {} gave no account of it\n", round.round,
                            plan.map.islands[std::size_t(absence.receiver)].name);
        continue;
      }
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

}  // namespace

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
  return to_json(outcome_file(plan, outcome, made_by));
}

}  // namespace cotillion
