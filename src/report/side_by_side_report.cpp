#include "report/side_by_side_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/text.hpp"
#include "job/edge_memory.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kRowsShown = 40;
constexpr std::size_t kLanesShown = 5;
constexpr std::size_t kDigitsShown = 19;  // of a fingerprint
constexpr const char* kNone = "–";
constexpr std::ptrdiff_t kBehindPlanned = 3;  // of cliques: after round, clique and planned

std::string ms_text(Duration time) {
  return fmt::format("{:.3f}", time.ms());
}

std::string bytes_text(double bytes) {
  return to_text(Bytes{std::llround(std::min(bytes, 9e18))});
}

std::string range_text(const Spread& times) {
  if (times.count < 2 || times.least == times.most) return "";
  return fmt::format("{}–{}", ms_text(times.least), ms_text(times.most));
}

// Columns in which links were emulated, and somebody said how late that made packets.
bool was_emulated(const SideBySide& sides, std::size_t column) {
  return std::any_of(sides.lanes.begin(), sides.lanes.end(), [&](const LaneRow& lane) {
    return lane.seen[column].late_most > Duration{0};
  });
}

// Planned, then for each column what was seen and by how much that is later; how far it spreads, in
// columns where anything does; and for cliques what the emulator of links had to do with it, and
// what was missing.
class TimeCells {
 public:
  using SpreadOf = std::function<Spread(std::size_t row, std::size_t column)>;
  using NoteOf = std::function<std::string(std::size_t row, std::size_t column)>;

  TimeCells(const SideBySide& sides, std::size_t rows, SpreadOf spread, NoteOf note = nullptr)
      : sides_(sides),
        spread_(std::move(spread)),
        note_(std::move(note)),
        ranges_(sides.columns.size(), false) {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < ranges_.size(); ++c)
        if (!range_text(spread_(r, c)).empty()) ranges_[c] = true;
  }

  void add_titles(std::vector<std::string>& titles) const {
    titles.emplace_back("planned ms");
    for (std::size_t c = 0; c < ranges_.size(); ++c) {
      titles.push_back(sides_.columns[c].title + " ms");
      if (ranges_[c]) titles.emplace_back("from–to");
      titles.emplace_back("later by");
      if (note_ && was_emulated(sides_, c)) titles.emplace_back("emulator");
      if (note_) titles.emplace_back("");
    }
  }

  void add(std::vector<std::string>& cells, std::size_t row, Duration planned) const {
    cells.push_back(ms_text(planned));
    for (std::size_t c = 0; c < ranges_.size(); ++c) {
      const Spread times = spread_(row, c);
      cells.push_back(times.count > 0 ? ms_text(times.median) : kNone);
      if (ranges_[c]) cells.push_back(range_text(times));
      cells.push_back(times.count > 0 ? to_text(times.median - planned) : kNone);
      if (note_ && was_emulated(sides_, c))
        cells.push_back(to_text(sides_.cliques[row].seen[c].emulator));
      if (note_) cells.push_back(note_(row, c));
    }
  }

 private:
  const SideBySide& sides_;
  SpreadOf spread_;
  NoteOf note_;
  std::vector<bool> ranges_;
};

// "lacks AMS 2442, LON 3 chunks"
std::string state_text(const SideBySide& sides, const CliqueSeen& seen) {
  if (seen.time.count == 0 && seen.incomplete == 0) return kNone;
  if (seen.incomplete == 0) return "complete";
  std::string text;
  for (const MissingFrom& missing : seen.missing)
    text += fmt::format("{}{} {}", text.empty() ? "lacks " : ", ",
                        sides.islands[missing.contributor], missing.chunks);
  if (text.empty()) return "incomplete";
  return text + (seen.missing.back().chunks == 1 ? " chunk" : " chunks");
}

// By the name of a counter; what an edge throws away is one number.
struct Eviction {
  const char* what;
  std::vector<EdgeCount> counts;
};
const std::vector<Eviction>& evictions() {
  static const std::vector<Eviction> kAll = {
      {"whole", {EdgeCount::kResults}},
      {"put out by deadline", {EdgeCount::kTimeouts}},
      {"put out by a newer chunk", {EdgeCount::kConflicts}},
      {"rest of a chunk put out early", {EdgeCount::kCompletedPartials}},
      {"late contributions", {EdgeCount::kLate}},
      {"sent again", {EdgeCount::kResends}},
      {"asked for and gone", {EdgeCount::kGone}},
      {"repaired before summing", {EdgeCount::kRepaired}},
      {"duplicates", {EdgeCount::kDuplicates, EdgeCount::kOverlaps}},
      {"refused",
       {EdgeCount::kForged, EdgeCount::kUnknownBoot, EdgeCount::kUnexpected, EdgeCount::kStaleRound,
        EdgeCount::kNotFinite, EdgeCount::kOverRate}}};
  return kAll;
}

std::uint64_t counted_of(const EdgeCounters& counters, const Eviction& eviction) {
  return std::accumulate(eviction.counts.begin(), eviction.counts.end(), std::uint64_t{0},
                         [&](std::uint64_t sum, EdgeCount count) { return sum + counters[count]; });
}

// Those that happened anywhere.
std::vector<const Eviction*> seen_evictions(const SideBySide& sides) {
  std::vector<const Eviction*> list;
  for (const Eviction& eviction : evictions())
    if (std::any_of(sides.edges.begin(), sides.edges.end(), [&](const EdgeRow& edge) {
          return std::any_of(edge.seen.begin(), edge.seen.end(), [&](const EdgeSeen& seen) {
            return counted_of(seen.counters, eviction) > 0;
          });
        }))
      list.push_back(&eviction);
  return list;
}

template <class Better>
std::vector<const LaneRow*> best_lanes(const SideBySide& sides, std::size_t most, Better better) {
  std::vector<const LaneRow*> lanes;
  for (const LaneRow& lane : sides.lanes) lanes.push_back(&lane);
  std::stable_sort(lanes.begin(), lanes.end(),
                   [&](const LaneRow* a, const LaneRow* b) { return better(*a) > better(*b); });
  if (lanes.size() > most) lanes.resize(most);
  return lanes;
}

Rows cut(Rows rows, std::size_t most, std::string& note, const char* noun) {
  if (rows.size() <= most + 1) return rows;
  note = fmt::format("… and {} more; --json lists them\n", counted(rows.size() - 1 - most, noun));
  rows.resize(most + 1);
  return rows;
}

bool counts_staleness(const SideBySide& sides) {
  return std::any_of(sides.columns.begin(), sides.columns.end(), [](const OutcomeColumn& column) {
    return std::any_of(
        column.outcomes.begin(), column.outcomes.end(),
        [](const NamedOutcome* outcome) { return outcome->file.outcome.exact.has_value(); });
  });
}

void add_staleness(const Outcome& outcome, std::vector<std::string>& cells) {
  const auto ms = [](RealDuration time) { return fmt::format("{:.1f}", time.ms()); };
  cells.push_back(outcome.exact ? ms(outcome.exact->planned.absolute) : kNone);
  if (!outcome.exact)
    cells.emplace_back(kNone);
  else if (outcome.exact->lived)
    cells.push_back(ms(outcome.exact->lived->absolute));
  else if (outcome.rounds.size() < outcome.exact->rounds_needed)
    cells.push_back(fmt::format("too few rounds: {} would do", outcome.exact->rounds_needed));
  else
    cells.emplace_back("clocks contradict each other");
}

std::string overtaken_note(const SideBySide& sides) {
  std::string text;
  for (const OutcomeColumn& column : sides.columns) {
    std::uint64_t count = 0;
    for (const NamedOutcome* outcome : column.outcomes)
      for (const ReceiverCounters& receiver : outcome->file.outcome.receivers)
        count += receiver[ReceiverCount::kOvertaken];
    if (count > 0)
      text += fmt::format("{}: {} came after the next copy of what they correct.\n", column.title,
                          counted(std::size_t(count), "correction"));
  }
  return text;
}

}  // namespace

std::string headline(const SideBySide& sides) {
  return fmt::format("{}: {}, plan {}…", sides.map.empty() ? "A map" : sides.map, sides.schedule,
                     sides.plan.substr(0, kDigitsShown));
}

Rows outcomes_table(const SideBySide& sides) {
  Rows rows{{"column", "file", "rounds", "seed", "plan holds", "loss planned", "realised",
             "disagreement", "drift"}};
  const bool counts = counts_staleness(sides);
  if (counts) rows[0].insert(rows[0].end(), {"staleness planned ms", "counted"});
  for (const OutcomeColumn& column : sides.columns)
    for (const NamedOutcome* outcome : column.outcomes) {
      const OutcomeFile& file = outcome->file;
      const auto loss = file.loss();
      const auto value = [&](double RealisedLoss::*part) {
        return loss ? fmt::format("{:.4f}", (*loss).*part) : std::string(kNone);
      };
      rows.push_back({column.title, shown(outcome->name, 200),
                      fmt::format("{}", file.outcome.rounds.size()),
                      fmt::format("{}", file.made_by.seed), holds(file.outcome) ? "yes" : "no",
                      fmt::format("{:.4f}", file.outcome.planned_loss), value(&RealisedLoss::total),
                      value(&RealisedLoss::disagreement), value(&RealisedLoss::drift)});
      if (counts) add_staleness(file.outcome, rows.back());
    }
  return rows;
}

Rows cliques_table(const SideBySide& sides) {
  const TimeCells cells(
      sides, sides.cliques.size(),
      [&](std::size_t row, std::size_t column) { return sides.cliques[row].seen[column].time; },
      [&](std::size_t row, std::size_t column) {
        return state_text(sides, sides.cliques[row].seen[column]);
      });
  Rows rows{{"round", "clique"}};
  cells.add_titles(rows[0]);
  rows[0].insert(rows[0].begin() + kBehindPlanned, "whole packets");
  for (std::size_t r = 0; r < sides.cliques.size(); ++r) {
    const CliqueRow& clique = sides.cliques[r];
    rows.push_back({fmt::format("{}", clique.phase + 1), names_of(sides.islands, clique.islands)});
    cells.add(rows.back(), r, clique.planned);
    rows.back().insert(rows.back().begin() + kBehindPlanned, to_text(clique.store_and_forward));
  }
  return rows;
}

Rows arrivals_table(const SideBySide& sides) {
  const TimeCells cells(sides, sides.arrivals.size(), [&](std::size_t row, std::size_t column) {
    return sides.arrivals[row].seen[column];
  });
  Rows rows{{"round", "from", "at"}};
  cells.add_titles(rows[0]);
  for (std::size_t r = 0; r < sides.arrivals.size(); ++r) {
    const ArrivalRow& arrival = sides.arrivals[r];
    rows.push_back({fmt::format("{}", arrival.phase + 1), sides.islands[arrival.sender],
                    sides.islands[arrival.receiver]});
    cells.add(rows.back(), r, arrival.planned);
  }
  return rows;
}

Rows evictions_table(const SideBySide& sides) {
  Rows rows{{"at all edges"}};
  for (const OutcomeColumn& column : sides.columns) rows[0].push_back(column.title);
  for (const Eviction* eviction : seen_evictions(sides)) {
    rows.push_back({eviction->what});
    for (std::size_t c = 0; c < sides.columns.size(); ++c) {
      std::uint64_t sum = 0;
      for (const EdgeRow& edge : sides.edges) sum += counted_of(edge.seen[c].counters, *eviction);
      rows.back().push_back(fmt::format("{}", sum));
    }
  }
  return rows;
}

Rows edges_table(const SideBySide& sides) {
  const std::vector<const Eviction*> seen = seen_evictions(sides);
  Rows rows{{"edge of", "column"}};
  for (const Eviction* eviction : seen) rows[0].emplace_back(eviction->what);
  for (const EdgeRow& edge : sides.edges)
    for (std::size_t c = 0; c < sides.columns.size(); ++c) {
      if (!edge.seen[c].known) continue;
      rows.push_back({sides.islands[edge.island], sides.columns[c].title});
      for (const Eviction* eviction : seen)
        rows.back().push_back(fmt::format("{}", counted_of(edge.seen[c].counters, *eviction)));
    }
  return rows;
}

Rows lanes_table(const SideBySide& sides, const std::vector<const LaneRow*>& lanes) {
  Rows rows{{"link", "a packet", "planned a round"}};
  for (std::size_t c = 0; c < sides.columns.size(); ++c) {
    rows[0].insert(rows[0].end(), {sides.columns[c].title, "longest queue", "lost"});
    if (was_emulated(sides, c)) rows[0].insert(rows[0].end(), {"emulator late p50", "p99", "most"});
  }
  for (const LaneRow* lane : lanes) {
    rows.push_back(
        {lane->ends.from + "→" + lane->ends.to, to_text(lane->packet), bytes_text(lane->planned)});
    for (std::size_t c = 0; c < lane->seen.size(); ++c) {
      const LaneSeen& seen = lane->seen[c];
      const auto cell = [&](const std::string& text) {
        rows.back().push_back(seen.known ? text : kNone);
      };
      cell(bytes_text(seen.bytes));
      cell(to_text(seen.queue_longest));
      cell(fmt::format("{}", seen.lost));
      if (!was_emulated(sides, c)) continue;
      for (const Duration late : {seen.late_median, seen.late_p99, seen.late_most})
        cell(to_text(late));
    }
  }
  return rows;
}

std::vector<const LaneRow*> longest_queues(const SideBySide& sides, std::size_t most) {
  return best_lanes(sides, most, [](const LaneRow& lane) {
    Duration longest;
    for (const LaneSeen& seen : lane.seen) longest = std::max(longest, seen.queue_longest);
    return longest;
  });
}

std::vector<const LaneRow*> busiest(const SideBySide& sides, std::size_t most) {
  return best_lanes(sides, most, [](const LaneRow& lane) {
    double bytes = lane.planned;
    for (const LaneSeen& seen : lane.seen) bytes = std::max(bytes, seen.bytes);
    return bytes;
  });
}

std::string mixing_text(const SideBySide& sides) {
  std::string text;
  for (std::size_t c = 0; c < sides.columns.size(); ++c) {
    std::vector<std::string> short_of;
    for (const CliqueRow& clique : sides.cliques)
      if (clique.seen[c].incomplete > 0)
        short_of.push_back(fmt::format("{} in round {}", names_of(sides.islands, clique.islands),
                                       clique.phase + 1));
    const std::size_t left_out = short_of.size() > 6 ? short_of.size() - 6 : 0;
    short_of.resize(short_of.size() - left_out);
    if (short_of.empty())
      text += fmt::format("{}: Ŵ is the plan's W; every average had all of its members.\n",
                          sides.columns[c].title);
    else
      text += fmt::format(
          "{}: Ŵ is not the plan's W; something was missing in the averages of {}{}"
          ".\n",
          sides.columns[c].title, fmt::join(short_of, ", "),
          left_out > 0 ? fmt::format(" and {} more", left_out) : "");
  }
  return text + overtaken_note(sides);
}

std::string side_by_side_text(const SideBySide& sides, bool full) {
  std::string text = headline(sides) + "\n\n" + table_of(outcomes_table(sides)).text() + "\n";
  std::string note;
  text += table_of(cut(cliques_table(sides), kRowsShown, note, "clique")).text() + note + "\n";
  if (!full) return text + mixing_text(sides);
  note.clear();
  text += table_of(cut(memory_table(sides), kRowsShown, note, "edge")).text() + note + "\n";
  text += table_of(evictions_table(sides)).text() + "\n";
  text += table_of(lanes_table(sides, longest_queues(sides, kLanesShown))).text();
  if (sides.lanes.size() > kLanesShown)
    text += fmt::format("… and {} with shorter queues; --json lists them\n",
                        counted(sides.lanes.size() - kLanesShown, "link"));
  return text + "\n" + mixing_text(sides);
}

}  // namespace cotillion
