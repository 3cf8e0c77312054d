#include "report/side_by_side_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "job/edge_memory.hpp"
#include "report/side_by_side_report.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kRowsMost = 40;
constexpr std::size_t kLanesMost = 24;
constexpr std::size_t kLanesListed = 200;
constexpr std::size_t kArrivalsListed = 200;

// The unit in which the largest of some values is easily read.
struct Unit {
  std::string name;
  double size;
};

Unit time_unit(double most_ps) {
  if (most_ps < 1e9) return {"µs", 1e6};
  return {"ms", 1e9};
}

Unit bytes_unit(double most) {
  if (most < 1e6) return {"kB", 1e3};
  if (most < 1e9) return {"MB", 1e6};
  return {"GB", 1e9};
}

std::vector<std::string> series_of(const SideBySide& sides) {
  std::vector<std::string> names{"planned"};
  for (const OutcomeColumn& column : sides.columns) names.push_back(column.title);
  return names;
}

RowValue value_of(const Spread& times, Duration from, double unit) {
  if (times.count == 0) return {};
  const auto scaled = [&](Duration time) { return double((time - from).ps) / unit; };
  return {scaled(times.median), scaled(times.least), scaled(times.most)};
}

RowValue only(double value) {
  return {value, value, value};
}

// Anything planned and then seen at some times, in rows.
struct TimedRow {
  std::string name;
  Duration planned;
  std::vector<Spread> seen;            // by column
  std::optional<Duration> whole = {};  // what whole packets add to it, where it is known

  // Beyond the plan or before it, whichever is more.
  [[nodiscard]] double off() const {
    double most = 0;
    for (const Spread& times : seen)
      if (times.count > 0)
        most = std::max({most, std::abs(double((times.least - planned).ps)),
                         std::abs(double((times.most - planned).ps))});
    return most;
  }
};

// The rows that are furthest off the plan, in their own order.
std::string keep_worst(std::vector<TimedRow>& rows, const char* noun) {
  if (rows.size() <= kRowsMost) return "";
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a].off() > rows[b].off(); });
  const std::size_t left_out = rows.size() - kRowsMost;
  order.resize(kRowsMost);
  std::sort(order.begin(), order.end());
  std::vector<TimedRow> kept;
  for (const std::size_t row : order) kept.push_back(std::move(rows[row]));
  rows = std::move(kept);
  return fmt::format(" The {} furthest off are drawn, {} closer to it are not.", kRowsMost,
                     counted(left_out, noun));
}

RowChart timed_figure(const SideBySide& sides, std::vector<TimedRow> rows, const char* noun) {
  RowChart chart;
  chart.series = series_of(sides);
  chart.caption =
      "Planned times are of fluid streams; whole packets arrive later by the time that one spends "
      "on every link. A bar reaches from the earliest to the latest, the mark is the median." +
      keep_worst(rows, noun);
  double most = 0;
  for (const TimedRow& row : rows) most = std::max(most, row.off());
  const Unit unit = time_unit(most);
  RowPanel when{"from the start of the round (ms)", {}};
  RowPanel later{fmt::format("later than planned ({})", unit.name), {}};
  when.values.resize(chart.series.size());
  later.values.resize(chart.series.size());
  for (const TimedRow& row : rows) {
    chart.rows.push_back(row.name);
    when.values[0].push_back(only(row.planned.ms()));
    if (row.whole) later.values[0].push_back(only(double(row.whole->ps) / unit.size));
    for (std::size_t c = 0; c < row.seen.size(); ++c) {
      when.values[c + 1].push_back(value_of(row.seen[c], {}, kPicosecondsPerMillisecond));
      later.values[c + 1].push_back(value_of(row.seen[c], row.planned, unit.size));
    }
  }
  chart.panels = {std::move(when), std::move(later)};
  return chart;
}

// Figures and sections for one plan.
class SideBySideStudy {
 public:
  SideBySideStudy(const SideBySide& sides, std::string prefix, std::string suffix,
                  IllustratedPage& study)
      : sides_(sides), prefix_(std::move(prefix)), suffix_(std::move(suffix)), study_(study) {}

  void run() {
    section("What was played", {headline(sides_), loss_words()}).table = outcomes_table(sides_);
    compare_cliques();
    if (!sides_.arrivals.empty()) compare_arrivals();
    compare_edges();
    compare_lanes();
    draw_mixing();
  }

 private:
  Section& section(const std::string& heading, std::vector<std::string> paragraphs) {
    study_.page.sections.push_back({heading + suffix_, std::move(paragraphs), {}, {}});
    return study_.page.sections.back();
  }

  void add(Section& to, const std::string& name, std::string svg) {
    to.figures.push_back(svg);
    study_.figures.push_back({prefix_ + name, std::move(svg)});
  }

  static std::string loss_words() {
    return "The loss is the paper's Equation sumloss over the rounds played: how much disagreement "
           "all generations together had to live with. What is above the planned one came from "
           "contributions that were missing; of it, drift of the mean is what averaging cannot "
           "mend.";
  }

  void compare_cliques() {
    Section& to = section("Clique by clique", {});
    to.table = cliques_table(sides_);
    add(to, "cliques", row_chart_svg(cliques_figure(sides_)));
    const bool again =
        std::any_of(sides_.columns.begin(), sides_.columns.end(),
                    [&](const OutcomeColumn& column) { return column.rounds > sides_.period; });
    if (again) add(to, "rounds", chart_svg(rounds_figure(sides_)));
  }

  void compare_arrivals() {
    Section& to = section("Arrivals", {"When the last chunk of each stream came to each edge."});
    to.table = arrivals_table(sides_);
    if (to.table.size() > kArrivalsListed + 1) {
      to.paragraphs.push_back(
          fmt::format("The first {} of {} are listed.", kArrivalsListed, to.table.size() - 1));
      to.table.resize(kArrivalsListed + 1);
    }
    add(to, "arrivals", row_chart_svg(arrivals_figure(sides_)));
  }

  void compare_edges() {
    Section& memory = section("Memory at the edges", {"The peak is that of open slots."});
    memory.table = memory_table(sides_);
    add(memory, "memory", row_chart_svg(memory_figure(sides_)));
    section("What edges did",
            {"A slot is put out whole, by its deadline, or because a newer chunk needs it; what "
             "comes after that is late and passed through."})
        .table = edges_table(sides_);
  }

  void compare_lanes() {
    Section& to = section("Links", {});
    const auto lanes = busiest(sides_, kLanesListed);
    if (lanes.size() < sides_.lanes.size())
      to.paragraphs.push_back(
          fmt::format("The {} busiest of {}.", lanes.size(), sides_.lanes.size()));
    to.table = lanes_table(sides_, lanes);
    add(to, "links", row_chart_svg(lanes_figure(sides_)));
  }

  void draw_mixing() {
    Section& to = section("From whom state came", {});
    to.paragraphs.push_back(mixing_text(sides_));
    for (std::size_t c = 0; c < sides_.columns.size(); ++c) {
      const HeatMap figure = mixing_figure(sides_, c);
      if (!figure.panels.empty()) add(to, fmt::format("mixing-{}", c + 1), heat_map_svg(figure));
    }
  }

  const SideBySide& sides_;
  std::string prefix_, suffix_;
  IllustratedPage& study_;
};

}  // namespace

RowChart cliques_figure(const SideBySide& sides) {
  std::vector<TimedRow> rows;
  for (const CliqueRow& clique : sides.cliques) {
    TimedRow row{fmt::format("{}: {}", clique.phase + 1, names_of(sides.islands, clique.islands)),
                 clique.planned,
                 {},
                 clique.store_and_forward};
    for (const CliqueSeen& seen : clique.seen) row.seen.push_back(seen.time);
    rows.push_back(std::move(row));
  }
  RowChart chart = timed_figure(sides, std::move(rows), "clique");
  chart.title = "When each clique was done, by round of the plan";
  chart.caption += " On the right the ring is what whole packets add to the plan.";
  return chart;
}

RowChart arrivals_figure(const SideBySide& sides) {
  std::vector<TimedRow> rows;
  for (const ArrivalRow& arrival : sides.arrivals)
    rows.push_back({fmt::format("{}: {} at {}", arrival.phase + 1, sides.islands[arrival.sender],
                                sides.islands[arrival.receiver]),
                    arrival.planned, arrival.seen});
  RowChart chart = timed_figure(sides, std::move(rows), "arrival");
  chart.title = "When each stream had come to each edge, by round of the plan";
  return chart;
}

RowChart memory_figure(const SideBySide& sides) {
  RowChart chart;
  chart.title = "Memory at the edges";
  chart.series = series_of(sides);
  double most = 0;
  for (const EdgeRow& edge : sides.edges) {
    most = std::max(most, double(edge.memory_planned.count));
    for (const EdgeSeen& seen : edge.seen) most = std::max(most, double(seen.memory_peak.count));
  }
  const Unit unit = bytes_unit(most);
  RowPanel panel{fmt::format("largest ({})", unit.name), {}};
  RowPanel beyond{"beyond simulated (packets a stream)", {}};
  panel.values.resize(chart.series.size());
  beyond.values.resize(chart.series.size());
  bool compared = false;
  for (const EdgeRow& edge : sides.edges) {
    if (chart.rows.size() == kRowsMost) {
      chart.caption = fmt::format("The first {} of {} edges.", kRowsMost, sides.edges.size());
      break;
    }
    chart.rows.push_back(sides.islands[edge.island]);
    panel.values[0].push_back(only(double(edge.memory_planned.count) / unit.size));
    for (std::size_t c = 0; c < edge.seen.size(); ++c) {
      panel.values[c + 1].push_back(edge.seen[c].known
                                        ? only(double(edge.seen[c].memory_peak.count) / unit.size)
                                        : RowValue{});
      const auto more = beyond_simulated(sides, edge, c);
      compared = compared || more;
      beyond.values[c + 1].push_back(more ? only(more->a_stream) : RowValue{});
    }
  }
  chart.panels.push_back(std::move(panel));
  if (compared) {
    chart.panels.push_back(std::move(beyond));
    chart.caption += std::string(chart.caption.empty() ? "" : " ") +
                     "Two packets a stream need no explanation; the table says what lateness can "
                     "explain beyond that.";
  }
  return chart;
}

RowChart lanes_figure(const SideBySide& sides) {
  RowChart chart;
  chart.series = series_of(sides);
  const auto lanes = busiest(sides, kLanesMost);
  chart.title = "What links carried";
  chart.caption = "A round's mean, and the longest time that a packet waited for those before it.";
  if (lanes.size() < sides.lanes.size())
    chart.caption += fmt::format(" The {} busiest of {} are drawn.", lanes.size(),
                                 counted(sides.lanes.size(), "link"));
  double most_bytes = 0, most_queue = 0, most_late = 0;
  for (const LaneRow* lane : lanes) {
    most_bytes = std::max(most_bytes, lane->planned);
    for (const LaneSeen& seen : lane->seen) {
      most_bytes = std::max(most_bytes, seen.bytes);
      most_queue = std::max(most_queue, double(seen.queue_longest.ps));
      most_late = std::max(most_late, double(seen.late_p99.ps));
    }
  }
  const Unit bytes = bytes_unit(most_bytes), queue = time_unit(most_queue);
  RowPanel carried{fmt::format("carried in a round ({})", bytes.name), {}};
  const Unit late = time_unit(most_late);
  RowPanel waited{fmt::format("longest queue ({})", queue.name), {}};
  RowPanel emulated{fmt::format("emulator late, p50–p99 ({})", late.name), {}};
  carried.values.resize(chart.series.size());
  waited.values.resize(chart.series.size());
  emulated.values.resize(chart.series.size());
  for (const LaneRow* lane : lanes) {
    chart.rows.push_back(lane->ends.from + "→" + lane->ends.to);
    carried.values[0].push_back(only(lane->planned / bytes.size));
    for (std::size_t c = 0; c < lane->seen.size(); ++c) {
      const LaneSeen& seen = lane->seen[c];
      carried.values[c + 1].push_back(seen.known ? only(seen.bytes / bytes.size) : RowValue{});
      waited.values[c + 1].push_back(seen.known ? only(double(seen.queue_longest.ps) / queue.size)
                                                : RowValue{});
      const double median = double(seen.late_median.ps) / late.size;
      emulated.values[c + 1].push_back(
          seen.late_most.ps > 0 ? RowValue{median, median, double(seen.late_p99.ps) / late.size}
                                : RowValue{});
    }
  }
  chart.panels = {std::move(carried), std::move(waited)};
  if (most_late > 0) {
    chart.panels.push_back(std::move(emulated));
    chart.caption +=
        " On the right, how late the emulator of a link was itself: the median, and up to where 99 "
        "of 100 packets lie.";
  }
  return chart;
}

HeatMap mixing_figure(const SideBySide& sides, std::size_t column) {
  HeatMap map;
  map.title =
      fmt::format("Ŵ: from whom each island's state came ({})", sides.columns[column].title);
  map.caption =
      "A row for each island, a column for whom its state came from; the mean over chunks and over "
      "all times that the round was played. Rows add up to one.";
  map.names = sides.islands;
  for (const MixingSeen& seen : sides.mixing)
    if (seen.column == column)
      map.panels.push_back(
          {fmt::format("round {} of {}", seen.phase + 1, sides.period), seen.matrix});
  return map;
}

Chart rounds_figure(const SideBySide& sides) {
  Chart chart;
  chart.title = "Round by round";
  chart.x_label = "round";
  chart.x_whole = true;
  chart.x_from_zero = false;
  double most = 0;
  for (const OutcomeColumn& column : sides.columns)
    for (const NamedOutcome* outcome : column.outcomes)
      for (const RoundOutcome& round : outcome->file.outcome.rounds)
        most = std::max(most, std::abs(double((round.measured - round.planned).ps)));
  const Unit unit = time_unit(most);
  chart.y_label = fmt::format("later than planned ({})", unit.name);
  chart.caption = "The slowest clique of each round against its planned length.";
  for (const OutcomeColumn& column : sides.columns)
    for (const NamedOutcome* outcome : column.outcomes) {
      Series series;
      series.name = column.title;
      if (column.outcomes.size() > 1)
        series.name += fmt::format(", seed {}", outcome->file.made_by.seed);
      for (const RoundOutcome& round : outcome->file.outcome.rounds)
        if (round.measured.ps > 0)
          series.points.emplace_back(double(round.round),
                                     double((round.measured - round.planned).ps) / unit.size);
      chart.series.push_back(std::move(series));
    }
  return chart;
}

IllustratedPage study_outcomes(const std::vector<SideBySide>& plans, const std::string& made_by) {
  IllustratedPage study;
  study.page.title = plans.front().map.empty() ? "A plan, played" : plans.front().map + ", played";
  study.page.subtitle = "Planned, simulated and measured side by side. " + made_by;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    const bool several = plans.size() > 1;
    SideBySideStudy(plans[p], several ? fmt::format("plan-{}-", p + 1) : "",
                    several ? fmt::format(" (plan {}: {})", p + 1, plans[p].schedule) : "", study)
        .run();
  }
  return study;
}

}  // namespace cotillion
