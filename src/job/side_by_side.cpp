#include "job/side_by_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace cotillion {
namespace {

// What tells a column from another of the same plan.
using Pairs = std::vector<std::pair<std::string, std::string>>;
using ColumnKey = std::tuple<OutcomeKind, std::size_t, Pairs, Pairs>;

ColumnKey key_of(const OutcomeFile& file) {
  Pairs inputs = file.made_by.inputs, settings = file.outcome.settings;
  std::erase_if(inputs, [](const auto& input) { return input.first == "plan"; });
  std::sort(inputs.begin(), inputs.end());
  std::sort(settings.begin(), settings.end());
  return {file.kind, inputs.size(), inputs, settings};
}

std::string title_of(const OutcomeFile& file) {
  std::string title(to_name(file.kind));
  for (const auto& [what, hash] : file.made_by.inputs)
    if (what != "plan") title += ", " + what;
  return title;
}

class Sides {
 public:
  explicit Sides(const std::vector<const NamedOutcome*>& outcomes) {
    const OutcomeFile& first = outcomes.front()->file;
    sides_.plan = first.plan();
    sides_.map = first.map;
    sides_.schedule = first.schedule;
    sides_.period = first.period;
    sides_.islands = first.islands;
    lay_columns(outcomes);
    for (column_ = 0; column_ < sides_.columns.size(); ++column_) {
      for (const NamedOutcome* outcome : sides_.columns[column_].outcomes) see(outcome->file);
      see_lanes();
      see_mixing();
    }
    settle();
  }

  SideBySide take() { return std::move(sides_); }

 private:
  using CliqueKey = std::pair<std::size_t, std::vector<IslandId>>;
  using ArrivalKey = std::tuple<std::size_t, IslandId, IslandId>;
  template <class Row>
  using Times = std::map<Row, std::vector<std::vector<Duration>>>;  // by column

  void lay_columns(const std::vector<const NamedOutcome*>& outcomes) {
    std::map<ColumnKey, OutcomeColumn> columns;
    for (const NamedOutcome* outcome : outcomes) {
      OutcomeColumn& column = columns[key_of(outcome->file)];
      column.title = title_of(outcome->file);
      column.outcomes.push_back(outcome);
      column.rounds += outcome->file.outcome.rounds.size();
    }
    std::map<std::string, int> alike;
    for (auto& [key, column] : columns) {
      if (const int number = ++alike[column.title]; number > 1)
        column.title += fmt::format(" {}", number);
      sides_.columns.push_back(std::move(column));
    }
  }

  template <class Row, class Key>
  Row& row(std::map<Key, Row>& rows, const Key& key) {
    Row& found = rows[key];
    found.seen.resize(sides_.columns.size());
    return found;
  }

  template <class Key>
  void note(Times<Key>& times, const Key& key, Duration time) const {
    times[key].resize(sides_.columns.size());
    times[key][column_].push_back(time);
  }

  void see(const OutcomeFile& file) {
    for (const RoundOutcome& round : file.outcome.rounds) {
      const std::size_t phase = file.phase_of(round.round);
      for (const CliqueOutcome& clique : round.cliques) see_clique(phase, round, clique);
    }
    for (const EdgeOutcome& edge : file.outcome.edges) {
      EdgeRow& place = row(edges_, edge.island);
      place.island = edge.island;
      place.memory_planned = std::max(place.memory_planned, edge.memory_planned);
      EdgeSeen& seen = place.seen[column_];
      seen.known = true;
      seen.memory_peak = std::max(seen.memory_peak, edge.memory_peak);
      place.slot = edge.slot;
      place.streams = std::max(place.streams, edge.streams);
      seen.late = std::max(seen.late, edge.late);
      seen.late_packets = std::max(seen.late_packets, edge.late_packets);
      for (std::size_t i = 0; i < kEdgeCounts; ++i)
        seen.counters.add(EdgeCount(i), edge.counters[EdgeCount(i)]);
    }
  }

  void see_clique(std::size_t phase, const RoundOutcome& round, const CliqueOutcome& clique) {
    if (clique.islands.size() < 2) return;
    const CliqueKey key{phase, clique.islands};
    CliqueRow& place = row(cliques_, key);
    place.phase = phase;
    place.islands = clique.islands;
    place.planned = clique.planned;
    place.store_and_forward = clique.store_and_forward;
    if (clique.measured.ps > 0) note(clique_times_, key, clique.measured);  // zero: nothing came
    CliqueSeen& seen = place.seen[column_];
    seen.incomplete += clique.complete ? 0 : 1;
    seen.emulator = std::max(seen.emulator, clique.emulator);
    for (const AbsenceOutcome& absence : round.absences)
      if (absence.receiver != absence.contributor &&  // else: that island was dead
          std::find(clique.islands.begin(), clique.islands.end(), absence.receiver) !=
              clique.islands.end())
        add_missing(seen.missing, absence);
    for (const ArrivalOutcome& arrival : clique.arrivals) {
      const ArrivalKey flight{phase, arrival.sender, arrival.receiver};
      ArrivalRow& landing = row(arrivals_, flight);
      std::tie(landing.phase, landing.sender, landing.receiver) = flight;
      landing.planned = arrival.planned;
      if (arrival.measured.ps > 0) note(arrival_times_, flight, arrival.measured);
    }
  }

  static void add_missing(std::vector<MissingFrom>& list, const AbsenceOutcome& absence) {
    const auto known = std::find_if(list.begin(), list.end(), [&](const MissingFrom& missing) {
      return missing.contributor == absence.contributor;
    });
    if (known != list.end())
      known->chunks += absence.chunks;
    else
      list.push_back({IslandId(absence.contributor), absence.chunks});
  }

  // Outcomes of a column may have played different numbers of rounds: what they carried is summed
  // first and divided by all of them.
  void see_lanes() {
    const OutcomeColumn& column = sides_.columns[column_];
    std::map<LaneId, double> planned;
    for (const NamedOutcome* outcome : column.outcomes)
      for (std::size_t i = 0; i < outcome->file.lanes.size(); ++i) {
        const LaneOutcome& lane = outcome->file.outcome.lanes[i];
        LaneRow& place = row(lanes_, lane.lane);
        place.lane = lane.lane;
        place.ends = outcome->file.lanes[i];
        place.packet = lane.packet;
        LaneSeen& seen = place.seen[column_];
        seen.known = true;
        seen.bytes += double(lane.bytes.count);
        planned[lane.lane] += double(lane.bytes_planned.count);
        seen.lost += lane.lost;
        seen.queue_longest = std::max(seen.queue_longest, lane.queue_longest);
        seen.late_median = std::max(seen.late_median, lane.late_median);
        seen.late_p99 = std::max(seen.late_p99, lane.late_p99);
        seen.late_most = std::max(seen.late_most, lane.late_most);
      }
    const double rounds = double(std::max<std::size_t>(1, column.rounds));
    for (const auto& [lane, bytes] : planned) {
      LaneRow& place = lanes_[lane];
      LaneSeen& seen = place.seen[column_];
      seen.of_planned = bytes > 0 ? seen.bytes / bytes : 0;
      seen.bytes /= rounds;
      if (place.planned == 0) place.planned = bytes / rounds;
    }
  }

  void see_mixing() {
    std::map<std::size_t, std::pair<std::vector<double>, std::size_t>> sums;  // by phase
    for (const NamedOutcome* outcome : sides_.columns[column_].outcomes)
      for (const RoundOutcome& round : outcome->file.outcome.rounds) {
        if (round.mixing.empty()) continue;
        auto& [sum, count] = sums[outcome->file.phase_of(round.round)];
        sum.resize(round.mixing.size(), 0);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += round.mixing[i];
        ++count;
      }
    for (auto& [phase, entry] : sums) {
      for (double& value : entry.first) value /= double(entry.second);
      sides_.mixing.push_back({phase, column_, std::move(entry.first)});
    }
  }

  void settle() {
    for (auto& [key, place] : cliques_) {
      auto& times = clique_times_[key];
      for (std::size_t c = 0; c < times.size(); ++c)
        place.seen[c].time = spread_of(std::move(times[c]));
      for (CliqueSeen& seen : place.seen)
        std::stable_sort(
            seen.missing.begin(), seen.missing.end(),
            [](const MissingFrom& a, const MissingFrom& b) { return a.chunks > b.chunks; });
      sides_.cliques.push_back(std::move(place));
    }
    for (auto& [key, place] : arrivals_) {
      auto& times = arrival_times_[key];
      for (std::size_t c = 0; c < times.size(); ++c) place.seen[c] = spread_of(std::move(times[c]));
      sides_.arrivals.push_back(std::move(place));
    }
    for (auto& [island, place] : edges_) sides_.edges.push_back(std::move(place));
    for (auto& [lane, place] : lanes_) sides_.lanes.push_back(std::move(place));
  }

  SideBySide sides_;
  std::size_t column_ = 0;
  std::map<CliqueKey, CliqueRow> cliques_;
  std::map<ArrivalKey, ArrivalRow> arrivals_;
  std::map<IslandId, EdgeRow> edges_;
  std::map<LaneId, LaneRow> lanes_;
  Times<CliqueKey> clique_times_;
  Times<ArrivalKey> arrival_times_;
};

// One plan has one map and one period.
void expect_alike(const NamedOutcome& first, const NamedOutcome& other, Diagnostics& wrong) {
  const char* field = nullptr;
  if (other.file.islands != first.file.islands)
    field = "islands";
  else if (other.file.period != first.file.period)
    field = "period";
  else if (other.file.schedule != first.file.schedule)
    field = "schedule";
  if (field != nullptr)
    wrong.push_back({other.name,
                     {},
                     field,
                     fmt::format("not as in {}, though both name the same plan", first.name),
                     "give outcomes as they were written"});
}

}  // namespace

Spread spread_of(std::vector<Duration> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const Duration low = times[(times.size() - 1) / 2], high = times[times.size() / 2];
  return {times.size(), times.front(), {low.ps + (high - low).ps / 2}, times.back()};
}

Expected<std::vector<SideBySide>, Diagnostics> side_by_side(
    const std::vector<NamedOutcome>& outcomes) {
  std::vector<std::vector<const NamedOutcome*>> plans;
  Diagnostics wrong;
  for (const NamedOutcome& outcome : outcomes) {
    const auto known = std::find_if(plans.begin(), plans.end(), [&](const auto& plan) {
      return plan.front()->file.plan() == outcome.file.plan();
    });
    if (known == plans.end()) {
      plans.push_back({&outcome});
      continue;
    }
    expect_alike(*known->front(), outcome, wrong);
    known->push_back(&outcome);
  }
  if (!wrong.empty()) return Unexpected{std::move(wrong)};
  std::vector<SideBySide> sides;
  for (const auto& plan : plans) sides.push_back(Sides(plan).take());
  return sides;
}

}  // namespace cotillion
