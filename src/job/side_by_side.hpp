// Outcomes of one plan beside what it said: planned | simulated | measured, clique by clique, edge
// by edge, lane by lane. Rounds of the plan are played again and again; of what was seen in the
// same one the median stands in a table, and how far the others lie from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "job/outcome_file.hpp"

namespace cotillion {

struct NamedOutcome {
  std::string name;  // of its file
  OutcomeFile file;
};

// Times of the same thing, seen several times or never.
struct Spread {
  std::size_t count = 0;
  Duration least, median, most;
};
[[nodiscard]] Spread spread_of(std::vector<Duration> times);

// Outcomes that are to be told apart by nothing but chance: the same kind, the same faults, the
// same settings.
struct OutcomeColumn {
  std::string title;  // "simulated", "simulated, faults", "measured"
  std::vector<const NamedOutcome*> outcomes;
  std::size_t rounds = 0;  // of all of them
};

struct MissingFrom {
  IslandId contributor = 0;
  std::uint64_t chunks = 0;  // at all members and in all rounds together
};

// One clique of one round of the plan, in one column.
struct CliqueSeen {
  Spread time;
  Duration emulator;           // how late an emulator of links was on the way of the last arrival
  std::size_t incomplete = 0;  // rounds
  std::vector<MissingFrom> missing;
};

struct CliqueRow {
  std::size_t phase = 0;
  std::vector<IslandId> islands;
  Duration planned;
  Duration store_and_forward;    // what whole packets add to it
  std::vector<CliqueSeen> seen;  // by column
};

struct ArrivalRow {
  std::size_t phase = 0;
  IslandId sender = 0, receiver = 0;
  Duration planned;
  std::vector<Spread> seen;  // by column; of those that came
};

struct EdgeSeen {
  bool known = false;
  Bytes memory_peak;      // the largest
  EdgeCounters counters;  // of all outcomes together
  Duration late;          // as in EdgeOutcome, the most
  double late_packets = 0;
};

struct EdgeRow {
  IslandId island = 0;
  Bytes memory_planned;
  Bytes slot;
  int streams = 0;
  std::vector<EdgeSeen> seen;  // by column
};

struct LaneSeen {
  bool known = false;
  double bytes = 0;  // a round
  double of_planned = 0;
  std::uint64_t lost = 0;
  Duration queue_longest;
  Duration late_median, late_p99, late_most;  // of an emulator; the largest of all outcomes
};

struct LaneRow {
  LaneId lane = 0;
  LaneEnds ends;
  Duration packet;             // that a whole one takes
  double planned = 0;          // bytes a round, in the rounds of the first column that has them
  std::vector<LaneSeen> seen;  // by column
};

// Ŵ of one round of the plan in one column: the mean over all times that it was played.
struct MixingSeen {
  std::size_t phase = 0;
  std::size_t column = 0;
  std::vector<double> matrix;
};

struct SideBySide {
  std::string plan;  // its fingerprint
  std::string map, schedule;
  std::size_t period = 1;
  std::vector<std::string> islands;
  std::vector<OutcomeColumn> columns;
  std::vector<CliqueRow> cliques;  // of two members or more
  std::vector<ArrivalRow> arrivals;
  std::vector<EdgeRow> edges;
  std::vector<LaneRow> lanes;
  std::vector<MixingSeen> mixing;
};

// One for each plan, in the order in which they first appear. Outcomes that name the same plan and
// contradict each other are refused. The outcomes must outlive the answer.
[[nodiscard]] Expected<std::vector<SideBySide>, Diagnostics> side_by_side(
    const std::vector<NamedOutcome>& outcomes);

}  // namespace cotillion
