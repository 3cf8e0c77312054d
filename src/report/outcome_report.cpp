#include "report/outcome_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/table.hpp"

namespace cotillion {
namespace {

using Align = Table::Align;
constexpr std::size_t kOutcomeRoundsShown = 12;
constexpr std::size_t kAbsencesShown = 12;

std::string outcome_rounds_text(const OutcomeFile& file) {
  const Outcome& outcome = file.outcome;
  Table table({{"round", Align::kRight},
               {"clique"},
               {"planned ms", Align::kRight},
               {"simulated ms", Align::kRight},
               {"later by", Align::kRight},
               {""}});
  for (std::size_t k = 0; k < std::min(outcome.rounds.size(), kOutcomeRoundsShown); ++k)
    for (const CliqueOutcome& clique : outcome.rounds[k].cliques) {
      if (clique.islands.size() < 2) continue;
      table.add({fmt::format("{}", outcome.rounds[k].round), names_of(file.islands, clique.islands),
                 fmt::format("{:.3f}", clique.planned.ms()),
                 fmt::format("{:.3f}", clique.measured.ms()),
                 to_text(clique.measured - clique.planned),
                 clique.complete ? "complete" : "something is missing"});
    }
  std::string text = table.text();
  if (outcome.rounds.size() > kOutcomeRoundsShown)
    text += fmt::format("… and {} more rounds\n", outcome.rounds.size() - kOutcomeRoundsShown);
  return text;
}

std::string absences_text(const OutcomeFile& file) {
  std::string text;
  std::size_t count = 0;
  for (const RoundOutcome& round : file.outcome.rounds)
    for (const AbsenceOutcome& absence : round.absences) {
      if (++count > kAbsencesShown) continue;
      if (absence.receiver == absence.contributor) {
        text += fmt::format("round {}: {} gave no account of it\n", round.round,
                            file.islands[absence.receiver]);
        continue;
      }
      text += fmt::format("round {}: {} lacks {} in {} chunks, from chunk {} on\n", round.round,
                          file.islands[absence.receiver], file.islands[absence.contributor],
                          absence.chunks, absence.first_chunk);
    }
  if (count > kAbsencesShown) text += fmt::format("… and {} more\n", count - kAbsencesShown);
  return text;
}

std::string edges_text(const OutcomeFile& file) {
  Table table({{"edge of"},
               {"peak", Align::kRight},
               {"planned", Align::kRight},
               {"results", Align::kRight},
               {"timeouts", Align::kRight},
               {"conflicts", Align::kRight},
               {"late", Align::kRight},
               {"resends", Align::kRight},
               {"dropped", Align::kRight}});
  for (const EdgeOutcome& edge : file.outcome.edges) {
    const EdgeCounters& counts = edge.counters;
    const std::uint64_t dropped = counts[EdgeCount::kDuplicates] + counts[EdgeCount::kOverlaps] +
                                  counts[EdgeCount::kForged] + counts[EdgeCount::kUnexpected] +
                                  counts[EdgeCount::kStaleRound] + counts[EdgeCount::kNotFinite] +
                                  counts[EdgeCount::kUnknownBoot] + counts[EdgeCount::kOverRate];
    table.add({file.islands[edge.island], to_text(edge.memory_peak), to_text(edge.memory_planned),
               fmt::format("{}", counts[EdgeCount::kResults]),
               fmt::format("{}", counts[EdgeCount::kTimeouts]),
               fmt::format("{}", counts[EdgeCount::kConflicts]),
               fmt::format("{}", counts[EdgeCount::kLate]),
               fmt::format("{}", counts[EdgeCount::kResends]), fmt::format("{}", dropped)});
  }
  return table.text();
}

std::string exchange_text(const Outcome& outcome) {
  std::string exchange, fragments;
  for (const auto& [name, value] : outcome.settings) {
    if (name == "exchange") exchange = value;
    if (name == "fragments") fragments = value;
  }
  return fragments.empty() ? exchange : fmt::format("{}, {} fragments", exchange, fragments);
}

std::string staleness_text(const Outcome& outcome) {
  if (!outcome.exact) return "";
  const auto& [planned, lived, rounds_needed] = *outcome.exact;
  const std::string as_planned =
      fmt::format("planned {:.1f} ms ({})", planned.absolute.ms(), exchange_text(outcome));
  if (lived)
    return fmt::format("staleness, counted from every copy and merge: {:.1f} ms, {}\n",
                       lived->absolute.ms(), as_planned);
  return fmt::format("staleness is not counted: too few rounds, {} would do (--rounds {}); {}\n",
                     rounds_needed, rounds_needed, as_planned);
}

std::string overtaken_text(const OutcomeFile& file) {
  std::string text;
  for (const IslandId island : file.outcome.receivers.ids())
    if (const auto count = file.outcome.receivers[island][ReceiverCount::kOvertaken]; count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", file.islands[island], count);
  return text.empty() ? text : fmt::format("corrections that came after the next copy: {}\n", text);
}

}  // namespace

std::string outcome_text(const OutcomeFile& file) {
  const Outcome& outcome = file.outcome;
  std::string text = fmt::format(
      "{} simulated round{} of {} (rounds longer by {} than planned, for whole packets)\n\n",
      outcome.rounds.size(), outcome.rounds.size() == 1 ? "" : "s", file.schedule,
      to_text(outcome.added_slack));
  text += outcome_rounds_text(file) + "\n" + edges_text(file);
  const auto fullest = std::max_element(
      outcome.lanes.begin(), outcome.lanes.end(),
      [](const LaneOutcome& a, const LaneOutcome& b) { return a.queue_longest < b.queue_longest; });
  if (fullest != outcome.lanes.end()) {
    const LaneEnds& ends = file.lanes[std::size_t(fullest - outcome.lanes.begin())];
    text += fmt::format("\nlongest queue: {} on {}→{}\n", to_text(fullest->queue_longest),
                        ends.from, ends.to);
  }
  std::uint64_t lost = 0;
  for (const LaneOutcome& lane : outcome.lanes) lost += lane.lost;
  if (lost > 0) text += fmt::format("lost on the way: {} packets\n", lost);
  const std::string absences = absences_text(file);
  if (!absences.empty()) text += "\n" + absences;
  if (const auto loss = file.loss(); loss && outcome.rounds.size() > 1)
    text += fmt::format(
        "sum of surviving disagreement over these rounds: {:.4f}, between islands {:.4f}, drift of "
        "their mean {:.4f}\n",
        loss->total, loss->disagreement, loss->drift);
  text += staleness_text(outcome) + overtaken_text(file);
  text += holds(outcome) ? "the plan holds\n" : "the plan does not hold as played\n";
  return text;
}

}  // namespace cotillion
