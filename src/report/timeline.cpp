#include "report/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/text.hpp"
#include "report/chart.hpp"
#include "report/chart_axis.hpp"
#include "report/timeline_memory.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kIslandsMost = 16;
constexpr std::size_t kMembersMost = 8;   // of a larger clique
constexpr std::size_t kStreamsMost = 12;  // drawn at an edge; of more, the first and the last
constexpr double kSendHeight = 12, kMemoryHeight = 26, kRowGap = 12;
constexpr double kLegendHeight = 30, kAxisHeight = 46;
constexpr double kSomething = 0.5;  // bytes; less is rounding, where streams meet exactly
constexpr double kTimelineNameSize = 13, kSmall = 10;
// Light, middle and dark, so that the four phases differ on a grey printer.
constexpr std::string_view kSending = "#0072b2", kArriving = "#e69f00", kHeld = "#009e73";

struct Row {
  const PlannedClique* clique = nullptr;
  IslandId island = 0;
  std::vector<StreamArrival> arrivals;  // those that are drawn
  std::vector<HeldMemory> held;         // of all
  double height = 0;
};

double stream_height(std::size_t streams) {
  return streams <= 3 ? 12 : streams <= 8 ? 10 : 6;
}

double peak_of(const std::vector<HeldMemory>& held) {
  double peak = 0;
  for (const HeldMemory& point : held) peak = std::max(peak, point.bytes);
  return peak;
}

Row row_of(const NetworkModel& network, const PlannedClique& clique, IslandId island) {
  Row row{&clique, island, arrivals_at(network, clique, island), {}, 0};
  if (network.aggregates(island)) row.held = memory_held(row.arrivals);
  if (row.arrivals.size() > kStreamsMost)
    row.arrivals.erase(row.arrivals.begin() + kStreamsMost / 2,
                       row.arrivals.end() - kStreamsMost / 2);
  const double streams = double(row.arrivals.size());
  row.height = kSendHeight + 3 + streams * stream_height(row.arrivals.size());
  if (peak_of(row.held) >= kSomething) row.height += 3 + kMemoryHeight;
  row.height = std::max(row.height, kSendHeight + kSmall + 4);
  return row;
}

// All members of a clique, or those of a large one that decide its price: the ends of the last
// flight and of the chain, and then as many others as there is room for.
std::vector<IslandId> members_drawn(const PlannedClique& clique) {
  if (clique.islands.size() <= kIslandsMost) return clique.islands;
  std::vector<IslandId> order{clique.binding.last_receiver, clique.binding.last_sender};
  for (const Wait& wait : clique.binding.chain)
    order.insert(order.end(), {wait.receiver, wait.leader, wait.waiter});
  order.insert(order.end(), clique.islands.begin(), clique.islands.end());
  std::vector<IslandId> drawn;
  for (const IslandId island : order)
    if (island >= 0 && drawn.size() < kMembersMost &&
        std::find(drawn.begin(), drawn.end(), island) == drawn.end())
      drawn.push_back(island);
  return drawn;
}

// Islands by clique, so that those that wait for each other stand together.
std::vector<Row> timeline_rows(const NetworkModel& network, const PlannedRound& round) {
  std::vector<Row> rows;
  const bool all = network.map().islands.size() <= kIslandsMost;
  const PlannedClique* longest = nullptr;
  for (const PlannedClique& clique : round.cliques)
    if (longest == nullptr || longest->price < clique.price) longest = &clique;
  for (const PlannedClique& clique : round.cliques)
    if (all || &clique == longest)
      for (const IslandId island : members_drawn(clique))
        rows.push_back(row_of(network, clique, island));
  return rows;
}

class TimelineDrawing {
 public:
  TimelineDrawing(Svg& svg, const NetworkModel& network, const Axis& axis, const Box& frame,
                  double memory_most)
      : svg_(svg), network_(network), axis_(axis), frame_(frame), memory_most_(memory_most) {}

  void scale(const std::vector<Tick>& ticks) {
    for (const Tick& tick : ticks) {
      const double x = axis_.pixel(tick.value);
      svg_.line({x, frame_.y}, {x, frame_.bottom()}, {.stroke = kGrid});
      svg_.text({x, frame_.bottom() + 18}, tick.label,
                {.anchor = Anchor::kMiddle, .colour = kFaded});
    }
    svg_.line({frame_.x, frame_.bottom()}, {frame_.right(), frame_.bottom()}, {.stroke = kInk});
    svg_.text({frame_.centre().x, frame_.bottom() + 38}, "time since the round began  (ms)",
              {.anchor = Anchor::kMiddle});
  }

  void moment(RealDuration at, const std::string& text, std::string_view dash) {
    const double x = axis_.pixel(at.ms());
    svg_.line({x, frame_.y - 4}, {x, frame_.bottom()}, {.stroke = kInk, .dash = dash});
    svg_.text({std::min(x, frame_.right()), frame_.y - 8}, text,
              {.size = 11.5, .anchor = Anchor::kEnd});
  }

  void row(const Row& row, double top) {
    svg_.text({frame_.x - 10, top + kSendHeight - 1},
              fitted(network_.map().islands[row.island].name, kTimelineNameSize, 78),
              {.size = kTimelineNameSize, .anchor = Anchor::kEnd, .bold = true});
    if (!row.clique->feasible) {
      remark(top, "its clique cannot be done");
      return;
    }
    if (row.clique->streams.empty()) {
      remark(top, "alone in this round");
      return;
    }
    send(row, top);
    double y = top + kSendHeight + 3;
    const double each = stream_height(row.arrivals.size());
    for (const StreamArrival& arrival : row.arrivals) {
      stream(arrival, y, each);
      y += each;
    }
    if (peak_of(row.held) >= kSomething)
      memory(row.held, y + 3);
    else if (!row.held.empty())
      note(top + kSendHeight + kSmall + 2, "holds nothing");
  }

 private:
  [[nodiscard]] double x(RealDuration at) const { return axis_.pixel(at.ms()); }

  void remark(double top, const std::string& text) {
    svg_.text({frame_.x + 6, top + kSendHeight - 2}, text, {.size = 11, .colour = kFaded});
  }

  // Small, under the island's name.
  void note(double baseline, const std::string& text) {
    svg_.text({frame_.x - 10, baseline}, text,
              {.size = kSmall, .anchor = Anchor::kEnd, .colour = kFaded});
  }

  void send(const Row& row, double top) {
    for (const Stream& stream : row.clique->streams) {
      if (stream.sender != row.island) continue;
      const double from = x(stream.offset), to = x(stream.offset + row.clique->serialisation);
      const double start = x(RealDuration());
      if (from > start)
        svg_.rect({start, top + 2, from - start, kSendHeight - 4},
                  {.stroke = kFaded, .width = 0.8, .dash = "2 2"});
      svg_.rect({from, top, std::max(0.5, to - from), kSendHeight}, {.fill = kSending});
    }
  }

  // A thin line of flight, then the bar of arrival with the sender's name on it.
  void stream(const StreamArrival& arrival, double y, double height) {
    const double middle = y + height / 2, first = x(arrival.first), last = x(arrival.last);
    svg_.line({x(arrival.sent), middle}, {first, middle},
              {.stroke = kFaded, .width = 0.9, .dash = "1.5 2"});
    svg_.rect({first, y + 0.5, std::max(0.5, last - first), height - 1.5}, {.fill = kArriving});
    const double size = height - 2;
    const std::string& name = network_.map().islands[arrival.sender].name;
    if (size >= 8 && text_width(name, size) < last - first - 8)
      svg_.text({first + 4, middle + 0.33 * size}, name, {.size = size});
  }

  void memory(const std::vector<HeldMemory>& held, double top) {
    const double foot = top + kMemoryHeight;
    std::vector<Point> area{{x(held.front().at), foot}};
    for (const HeldMemory& point : held)
      area.push_back({x(point.at), foot - (memory_most_ > 0 ? point.bytes / memory_most_ : 0) *
                                              (kMemoryHeight - 4)});
    area.push_back({x(held.back().at), foot});
    svg_.line({frame_.x, foot}, {frame_.right(), foot}, {.stroke = kGrid});
    svg_.polygon(area, {.stroke = kHeld, .fill = kHeld, .fill_opacity = 0.45});
    note(foot - 2, "≤ " + to_text(Bytes{std::int64_t(std::ceil(peak_of(held) - kSomething))}));
  }

  Svg& svg_;
  const NetworkModel& network_;
  const Axis& axis_;
  Box frame_;
  double memory_most_;
};

void draw_legend(Svg& svg, double y) {
  double x = kMargin;
  const auto entry = [&](const std::string& text) {
    svg.text({x + 30, y + 4}, text, {.size = 12});
    x += 30 + text_width(text, 12) + 24;
  };
  svg.rect({x, y - 4, 24, 8}, {.stroke = kFaded, .width = 0.8, .dash = "2 2"});
  entry("waits (offset)");
  svg.rect({x, y - 6, 24, 12}, {.fill = kSending});
  entry("sends");
  svg.line({x, y}, {x + 24, y}, {.stroke = kFaded, .width = 0.9, .dash = "1.5 2"});
  entry("in flight");
  svg.rect({x, y - 3.5, 24, 7}, {.fill = kArriving});
  entry("arrives at its edge");
  svg.polygon({{x, y + 6}, {x + 8, y - 6}, {x + 16, y - 6}, {x + 24, y + 6}},
              {.stroke = kHeld, .fill = kHeld, .fill_opacity = 0.45});
  entry("held by its edge");
}

std::string timeline_caption(const NetworkModel& network, const PlannedRound& round,
                             const std::vector<Row>& rows, double memory_most) {
  std::string caption = "Names on arrivals are the senders'.";
  if (memory_most > 0)
    caption += fmt::format(" The highest edge holds {}; areas share one scale.",
                           to_text(Bytes{std::int64_t(std::ceil(memory_most))}));
  if (!network.technology().aggregation) caption += " Nothing is summed at edges.";
  std::size_t members = 0;
  for (const PlannedClique& clique : round.cliques) members += clique.islands.size();
  if (rows.size() < members)
    caption += fmt::format(" Of {} islands, {} of the clique that takes longest are drawn.",
                           members, rows.size());
  if (std::any_of(rows.begin(), rows.end(),
                  [](const Row& row) { return row.clique->islands.size() - 1 > kStreamsMost; }))
    caption += fmt::format(" At each edge the {} earliest and the {} latest streams are drawn.",
                           kStreamsMost / 2, kStreamsMost / 2);
  return caption;
}

}  // namespace

std::string timeline_svg(const NetworkModel& network, const Plan& plan, std::size_t round_index) {
  COTILLION_CHECK(round_index < plan.rounds.size());
  const PlannedRound& round = plan.rounds[round_index];
  const std::vector<Row> rows = timeline_rows(network, round);
  double height = 0, memory_most = 0;
  std::vector<double> moments{plan.round.ms(), round.length.ms()};
  for (const Row& row : rows) {
    height += row.height + kRowGap;
    memory_most = std::max(memory_most, peak_of(row.held));
    for (const StreamArrival& arrival : row.arrivals) moments.push_back(arrival.last.ms());
  }
  if (memory_most < kSomething) memory_most = 0;
  const std::vector<std::string> caption =
      caption_lines(timeline_caption(network, round, rows, memory_most), kCanvasWidth);
  const double above = kTitleHeight + kLegendHeight + 18;
  const Box frame{kMargin + 96, above, kCanvasWidth - 2 * kMargin - 96 - 30, height + 6};
  const double total = frame.bottom() + kAxisHeight + double(caption.size()) * kCaptionLine + 14;
  Axis axis(moments, true, false);
  axis.place(frame.x, frame.right());

  const std::string title = fmt::format("Timeline of round {} of {}: {}", round_index + 1,
                                        plan.rounds.size(), plan.schedule);
  Svg svg(kCanvasWidth, total, title);
  draw_title(svg, title, kCanvasWidth);
  draw_legend(svg, kTitleHeight + 8);
  TimelineDrawing drawing(svg, network, axis, frame, memory_most);
  drawing.scale(moments.size() > 2 ? axis.ticks(8) : std::vector<Tick>{});
  double top = frame.y + kRowGap / 2;
  for (const Row& row : rows) {
    drawing.row(row, top);
    top += row.height + kRowGap;
    if (&row != &rows.back() && (&row + 1)->clique != row.clique)
      svg.line({kMargin, top - kRowGap / 2}, {frame.right(), top - kRowGap / 2},
               {.stroke = kFaded, .width = 0.7});
  }
  if (plan.feasible) drawing.moment(plan.round, "T = " + to_text(plan.round), "4 2");
  if (plan.feasible && round.length > plan.round) drawing.moment(round.length, "next round", "");
  draw_caption(svg, caption, total);
  return svg.finish();
}

}  // namespace cotillion
