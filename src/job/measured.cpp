#include "job/measured.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "job/complete_outcome.hpp"
#include "job/recorded_moves.hpp"

namespace cotillion {
namespace {

class Rounds {
 public:
  Rounds(const PlanFile& plan, const JobAssignment& assignment)
      : plan_(plan), assignment_(assignment) {}

  void add(RoundId round) {
    list.push_back(planned_round(plan_, round));
    reported_.emplace_back(plan_.map.islands.size());
    rows_.emplace_back(plan_.map.islands.size());
  }

  void add(IslandId island, const RoundReport& report) {
    RoundOutcome& seen = list[report.round - 1];
    CliqueOutcome& clique = clique_of(seen, island);
    reported_[report.round - 1][island] = true;
    rows_[report.round - 1][island] = report.mixing;
    for (const Absence& absence : report.absences) {
      clique.complete = false;
      seen.absences.push_back({absence, island});
    }
    clique.measured = std::max(clique.measured, report.measured);
    seen.measured = std::max(seen.measured, report.measured);
  }

  void add_arrivals(IslandId island, const RoundReport& report) {
    const PlannedRound& planned = plan_.plan.rounds[assignment_.phase_of(report.round)];
    for (const ReportedArrival& came : report.arrivals)
      for (std::size_t c = 0; c < planned.cliques.size(); ++c)
        for (const Stream& stream : planned.cliques[c].streams)
          for (const Arrival& arrival : stream.receivers)
            if (stream.sender == came.sender && arrival.receiver == island)
              list[report.round - 1].cliques[c].arrivals.push_back(
                  {came.sender, island, due_at_edge(plan_, stream, arrival),
                   std::max(came.measured, Duration{0})});
  }

  void finish() {
    for (std::size_t r = 0; r < list.size(); ++r) {
      for (CliqueOutcome& clique : list[r].cliques)
        for (const IslandId island : clique.islands)
          clique.complete = clique.complete && reported_[r][island];
      const std::size_t n = plan_.map.islands.size();
      if (std::any_of(rows_[r].begin(), rows_[r].end(),
                      [&](const auto& row) { return row.size() != n; }))
        continue;
      for (const auto& row : rows_[r])
        list[r].mixing.insert(list[r].mixing.end(), row.begin(), row.end());
    }
  }

  // Of rounds that every island has told of, by then or later.
  [[nodiscard]] std::optional<ExactOutcome> exact(const std::vector<Account>& accounts) const {
    RoundId told = RoundId(list.size());
    for (const IslandId island : all_ids<IslandId>(plan_.map.islands.size()))
      while (told > 0 && !reported_[told - 1][island]) --told;
    const int most = kShardsMax * assignment_.job().fragments;
    int fragments = 1;
    const auto each = [&](const auto& use) {
      for (const auto& [who, report] : accounts)
        for (const ReportedMove& move : report.moves)
          if (move.round >= 1 && move.round <= told && move.fragment >= 0 && move.fragment < most)
            use(who.island, move);
    };
    each([&](IslandId, const ReportedMove& move) {
      fragments = std::max(fragments, move.fragment + 1);
    });
    using Copy = std::tuple<RoundId, int, IslandId>;
    std::set<Copy> copies;
    RecordedMoves moves(plan_.map.island_count(), fragments);
    each([&](IslandId island, const ReportedMove& move) {
      if (move.merged) return;
      copies.insert({move.round, move.fragment, island});
      moves.copied(assignment_.start_of(move.round, {0}) + move.at, island, move.round,
                   move.fragment);
    });
    bool whole = true;
    each([&](IslandId island, const ReportedMove& move) {
      if (!move.merged) return;
      std::vector<double> row = rows_[move.round - 1][std::size_t(island)];
      whole = whole && row.size() == plan_.map.islands.size();
      if (!whole) return;
      // A row is the mean over all fragments. What a late stream left out is not in this one.
      double there = 0;
      for (const IslandId from : all_ids<IslandId>(row.size())) {
        if (!copies.contains({move.round, move.fragment, from})) row[std::size_t(from)] = 0;
        there += row[std::size_t(from)];
      }
      for (double& share : row) share /= std::max(there, std::numeric_limits<double>::min());
      moves.merged(assignment_.start_of(move.round, {0}) + move.at, island, move.round,
                   move.fragment, row);
    });
    return moves.account(plan_.plan, assignment_, whole ? told : 0);
  }

  std::vector<RoundOutcome> list;

 private:
  static CliqueOutcome& clique_of(RoundOutcome& round, IslandId island) {
    return *std::find_if(round.cliques.begin(), round.cliques.end(), [&](const auto& clique) {
      return std::binary_search(clique.islands.begin(), clique.islands.end(), island);
    });
  }

  const PlanFile& plan_;
  const JobAssignment& assignment_;
  std::vector<std::vector<bool>> reported_;             // by round and island
  std::vector<std::vector<std::vector<double>>> rows_;  // of Ŵ, the same
};

}  // namespace

Outcome measured_outcome(const PlanFile& plan, const JobAssignment& assignment,
                         const std::vector<Account>& accounts) {
  Outcome outcome;
  const std::size_t n = plan.map.islands.size();
  outcome.edges = planned_edges(plan, plan.plan.rounds.size());
  outcome.receivers.resize(n);
  outcome.senders.resize(n);
  outcome.steps.resize(n);
  RoundId last = 0;
  for (const Account& account : accounts) last = std::max(last, account.report.round);
  Rounds rounds(plan, assignment);
  for (RoundId round = 1; round <= last; ++round) rounds.add(round);
  for (const auto& [who, report] : accounts) {  // of each member in the order of rounds
    const IslandId island = who.island;
    if (who.role == Role::kIsland) {
      rounds.add(who.island, report);
      outcome.receivers[island] = report.receiver;
      outcome.senders[island] = report.sender;
      outcome.steps[island] = report.steps;
    } else {
      rounds.add_arrivals(who.island, report);
      outcome.edges[island].memory_peak = report.memory_peak;
      outcome.edges[island].counters = report.edge;
    }
  }
  rounds.finish();
  outcome.exact = rounds.exact(accounts);
  outcome.rounds = std::move(rounds.list);
  outcome.added_slack = assignment.added_slack();
  outcome.played = assignment.start_of(last + 1, Instant{0}) - Instant{0};
  return complete_outcome(plan, std::move(outcome));
}

}  // namespace cotillion
