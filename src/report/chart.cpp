#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/text.hpp"
#include "report/chart_axis.hpp"

namespace cotillion {
namespace {

constexpr double kChartTextSize = 13, kLegendSize = 13, kCaptionSize = 12.5;
constexpr double kChartLegendRow = 22, kLegendSample = 34;
constexpr double kLegendWidest = 240;  // wider ones go below the plot
constexpr double kChartInset = 12;     // between the frame and the least and greatest values
constexpr double kChartHead = 30;      // above a scatter: room for a label
constexpr double kChartMarkRadius = 4.5;
constexpr double kLabelReach = 340;
constexpr double kLineDots = 7;  // apart: less than a letter is high
constexpr int kLabelAttempts = 12;
constexpr int kTicksX = 9, kTicksY = 7;

struct Legend {
  bool below = false;
  double width = 0;   // of one entry
  double height = 0;  // of all of it, when below
  std::size_t columns = 1;
};

void keep_whole(std::vector<Tick>& ticks) {
  std::erase_if(ticks, [](const Tick& tick) { return tick.value != std::floor(tick.value); });
  for (Tick& tick : ticks) tick.label = tick_label(tick.value, 1);
}

// The labels of a scatter, with what each stands for.
struct Placement {
  std::vector<PlacedLabel> labels;
  std::vector<std::string> texts;
  std::vector<Point> marks;
};

// A point that wants a label.
struct Labelled {
  Point at;
  double radius = 0;
  const std::string* text = nullptr;
  bool placed = false;
};

// Everything that must be settled before the first stroke.
class ChartComposition {
 public:
  explicit ChartComposition(const Chart& chart);

  [[nodiscard]] std::string svg() const;
  [[nodiscard]] const std::vector<PlacedLabel>& labels() const { return placement_.labels; }

 private:
  [[nodiscard]] bool drawable(const std::pair<double, double>& point) const {
    return is_drawable(point.first, chart_.x_log) && is_drawable(point.second, chart_.y_log);
  }
  [[nodiscard]] Point pixel(const std::pair<double, double>& point) const {
    return {x_.pixel(point.first), y_.pixel(point.second)};
  }
  [[nodiscard]] Mark mark_of(std::size_t series) const {
    const Mark own = chart_.series[series].mark;
    return own == Mark::kAuto ? palette_mark(series) : own;
  }
  [[nodiscard]] double radius(const Series& series) const {
    return series.emphasised ? kChartMarkRadius + 1.5 : kChartMarkRadius;
  }
  [[nodiscard]] Chart::Kind kind_of(const Series& series) const {
    return series.kind.value_or(chart_.kind);
  }
  [[nodiscard]] static Axis axis(const Chart& chart, bool vertical);
  [[nodiscard]] Legend plan_legend() const;
  void lay_out();
  void place_labels();
  void keep_clear(LabelPlacer& placer, const Series& series) const;
  [[nodiscard]] Placement placed_in(std::vector<Labelled>& order) const;

  void draw_grid(Svg& svg) const;
  void draw_series(Svg& svg, std::size_t index) const;
  void draw_run(Svg& svg, std::size_t index, const std::vector<Point>& run) const;
  void draw_legend(Svg& svg) const;

  const Chart& chart_;
  Axis x_, y_;
  std::vector<Tick> x_ticks_, y_ticks_;
  Legend legend_;
  Box frame_;
  std::vector<std::string> caption_;
  std::size_t wanted_ = 0;  // labels
  Placement placement_;
};

Axis ChartComposition::axis(const Chart& chart, bool vertical) {
  std::vector<double> values;
  // Only points that will be drawn: a point without a height does not widen the x axis.
  for (const Series& series : chart.series)
    for (const auto& [x, y] : series.points)
      if (is_drawable(x, chart.x_log) && is_drawable(y, chart.y_log))
        values.push_back(vertical ? y : x);
  Axis axis(values, vertical ? chart.y_from_zero : chart.x_from_zero,
            vertical ? chart.y_log : chart.x_log);
  if (vertical) axis.round_up(kTicksY);
  return axis;
}

ChartComposition::ChartComposition(const Chart& chart)
    : chart_(chart), x_(axis(chart, false)), y_(axis(chart, true)) {
  std::size_t missing = 0;
  for (const Series& series : chart.series) {
    COTILLION_CHECK(series.labels.empty() || series.labels.size() == series.points.size());
    for (const auto& point : series.points) missing += drawable(point) ? 0 : 1;
  }
  std::string caption = chart.caption;
  if (missing > 0)
    caption += fmt::format("{}{} infinite or undefined {} left out.", caption.empty() ? "" : " ",
                           missing, missing == 1 ? "value is" : "values are");
  caption_ = caption_lines(caption, chart.width);
  lay_out();
  place_labels();
  if (wanted_ > placement_.labels.size()) {
    // Said in the room that the caption has: its last line, which place_labels does not touch.
    const std::string note =
        fmt::format(" {} found no room.", counted(wanted_ - placement_.labels.size(), "label"));
    if (caption_.empty())
      caption_.push_back(note.substr(1));
    else
      caption_.back() += note;
  }
}

Legend ChartComposition::plan_legend() const {
  Legend legend;
  if (chart_.series.size() < 2) return legend;
  for (const Series& series : chart_.series)
    legend.width = std::max(legend.width, kLegendSample + 8 + text_width(series.name, kLegendSize));
  const double across = chart_.width - 2 * kMargin;
  const double tall = kChartLegendRow * double(chart_.series.size());
  legend.below = legend.width > kLegendWidest || tall > chart_.height - 160;
  if (legend.below) {
    legend.width = std::min(legend.width + 16, across);
    legend.columns = std::max<std::size_t>(1, std::size_t(across / legend.width));
    const std::size_t rows = (chart_.series.size() + legend.columns - 1) / legend.columns;
    legend.height = double(rows) * kChartLegendRow + 8;
  }
  return legend;
}

void ChartComposition::lay_out() {
  y_ticks_ = y_.ticks(kTicksY);
  legend_ = plan_legend();
  double tick_width = 0;
  for (const Tick& tick : y_ticks_)
    tick_width = std::max(tick_width, text_width(tick.label, kChartTextSize));
  const double left = kMargin + 22 + tick_width + 8;
  const double right =
      chart_.width - kMargin - (legend_.width > 0 && !legend_.below ? legend_.width + 18 : 0);
  const double caption_height = double(caption_.size()) * kCaptionLine + 14;
  const double bottom = chart_.height - caption_height - legend_.height - 48;
  frame_ = {left, kTitleHeight, std::max(right - left, 60.0),
            std::max(bottom - kTitleHeight, 60.0)};
  x_.place(frame_.x + kChartInset, frame_.right() - kChartInset);
  // Zero stands on the frame of lines; marks, and lines that could be taken for it, need room.
  const bool scatter =
      std::any_of(chart_.series.begin(), chart_.series.end(),
                  [&](const Series& series) { return kind_of(series) == Chart::Kind::kScatter; });
  const double foot = scatter || chart_.y_log || !chart_.y_from_zero ? kChartInset : 0;
  y_.place(frame_.bottom() - foot, frame_.y + (scatter ? kChartHead : kChartInset));
  // As many ticks as their labels leave room for.
  int wanted = kTicksX;
  for (; wanted > 1; --wanted) {
    x_ticks_ = x_.ticks(wanted);
    if (chart_.x_whole) keep_whole(x_ticks_);
    bool roomy = true;
    for (std::size_t i = 1; i < x_ticks_.size(); ++i)
      roomy = roomy && x_.pixel(x_ticks_[i].value) - x_.pixel(x_ticks_[i - 1].value) >
                           (text_width(x_ticks_[i].label, kChartTextSize) +
                            text_width(x_ticks_[i - 1].label, kChartTextSize)) /
                                   2 +
                               10;
    if (roomy) break;
  }
}

// Of labels. A line is a row of dots to the placer; leaders pass between them.
void ChartComposition::keep_clear(LabelPlacer& placer, const Series& series) const {
  const std::vector<std::pair<double, double>>& points = series.points;
  const auto keep_line = [&](Point a, Point b) {
    const int dots = int(std::hypot(b.x - a.x, b.y - a.y) / kLineDots);
    for (int i = 1; i <= dots; ++i)
      placer.keep_clear(
          {a.x + (b.x - a.x) * i / (dots + 1) - 1, a.y + (b.y - a.y) * i / (dots + 1) - 1, 2, 2});
  };
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (!drawable(points[i - 1]) || !drawable(points[i])) continue;
    const Point a = pixel(points[i - 1]), b = pixel(points[i]);
    const Point corner = kind_of(series) == Chart::Kind::kStep ? Point{b.x, a.y} : a;
    keep_line(a, corner);
    keep_line(corner, b);
  }
}

Placement ChartComposition::placed_in(std::vector<Labelled>& order) const {
  LabelPlacer placer({frame_.x + 2, frame_.y + 2, frame_.width - 4, frame_.height - 4});
  for (const Series& series : chart_.series) {
    for (const auto& point : series.points)
      if (drawable(point)) placer.add_mark(pixel(point), radius(series) + 1);
    if (kind_of(series) != Chart::Kind::kScatter) keep_clear(placer, series);
  }
  Placement placement;
  for (Labelled& point : order) {
    const auto found =
        placer.beside(point.at, point.radius + 1, *point.text, kChartTextSize - 1, kLabelReach);
    point.placed = found.has_value();
    if (!found) continue;
    placement.labels.push_back(*found);
    placement.texts.push_back(*point.text);
    placement.marks.push_back(point.at);
  }
  return placement;
}

// A greedy placement is as good as its order. From right to left serves a row of marks: a label
// hangs to the right of its leader, below the last one. Those that found no room go first in the
// next try.
void ChartComposition::place_labels() {
  std::vector<Labelled> order;
  for (const Series& series : chart_.series)
    for (std::size_t i = 0; i < series.labels.size(); ++i)
      if (drawable(series.points[i]) && !series.labels[i].empty())
        order.push_back({pixel(series.points[i]), radius(series), &series.labels[i], false});
  std::stable_sort(order.begin(), order.end(),
                   [](const Labelled& a, const Labelled& b) { return a.at.x > b.at.x; });
  wanted_ = order.size();
  for (int attempt = 0; attempt < kLabelAttempts; ++attempt) {
    Placement placement = placed_in(order);
    if (attempt == 0 || placement.labels.size() > placement_.labels.size())
      placement_ = std::move(placement);
    if (placement_.labels.size() == wanted_) break;
    std::stable_partition(order.begin(), order.end(),
                          [](const Labelled& point) { return !point.placed; });
  }
}

void ChartComposition::draw_grid(Svg& svg) const {
  for (const Tick& tick : y_ticks_) {
    const double y = y_.pixel(tick.value);
    svg.line({frame_.x, y}, {frame_.right(), y}, {.stroke = kGrid});
    svg.text({frame_.x - 7, y + 4.5}, tick.label,
             {.size = kChartTextSize, .anchor = Anchor::kEnd, .colour = kFaded});
  }
  for (const Tick& tick : x_ticks_) {
    const double x = x_.pixel(tick.value);
    svg.line({x, frame_.y}, {x, frame_.bottom()}, {.stroke = kGrid});
    svg.text({x, frame_.bottom() + 18}, tick.label,
             {.size = kChartTextSize, .anchor = Anchor::kMiddle, .colour = kFaded});
  }
  svg.polyline(
      {{frame_.x, frame_.y}, {frame_.x, frame_.bottom()}, {frame_.right(), frame_.bottom()}},
      {.stroke = kInk, .width = 1.2});
  svg.text({frame_.centre().x, frame_.bottom() + 39}, chart_.x_label,
           {.size = kChartTextSize, .anchor = Anchor::kMiddle});
  svg.text({kMargin + 8, frame_.centre().y}, chart_.y_label,
           {.size = kChartTextSize, .anchor = Anchor::kMiddle, .turn = -90});
}

void ChartComposition::draw_run(Svg& svg, std::size_t index, const std::vector<Point>& run) const {
  const Series& series = chart_.series[index];
  std::vector<Point> path;
  for (const Point& point : run) {
    if (kind_of(series) == Chart::Kind::kStep && !path.empty())
      path.push_back({point.x, path.back().y});
    path.push_back(point);
  }
  if (series.filled && path.size() > 1) {
    std::vector<Point> area = path;
    area.push_back({path.back().x, frame_.bottom()});
    area.push_back({path.front().x, frame_.bottom()});
    svg.polygon(area, {.fill = palette_colour(index), .fill_opacity = 0.12});
  }
  svg.polyline(path, {.stroke = palette_colour(index),
                      .width = series.emphasised ? 3.2 : 2.0,
                      .dash = palette_dash(index)});
}

void ChartComposition::draw_series(Svg& svg, std::size_t index) const {
  const Series& series = chart_.series[index];
  std::vector<Point> run, all;
  const auto flush = [&] {
    if (kind_of(series) != Chart::Kind::kScatter) draw_run(svg, index, run);
    all.insert(all.end(), run.begin(), run.end());
    run.clear();
  };
  for (const auto& point : series.points)
    if (drawable(point))
      run.push_back(pixel(point));
    else
      flush();
  flush();
  // Marks of a long line would hide it: about twenty tell it from its neighbours as well.
  const std::size_t stride =
      kind_of(series) == Chart::Kind::kScatter ? 1 : std::max<std::size_t>(1, all.size() / 20);
  // Lines that run together show their marks in turn.
  for (std::size_t i = (3 * index) % stride; i < all.size(); i += stride)
    draw_mark(svg, mark_of(index), all[i], radius(series), palette_colour(index));
}

void ChartComposition::draw_legend(Svg& svg) const {
  if (legend_.width == 0) return;
  for (std::size_t i = 0; i < chart_.series.size(); ++i) {
    const double row = double(legend_.below ? i / legend_.columns : i);
    const double column = double(legend_.below ? i % legend_.columns : 0);
    const double x = legend_.below ? kMargin + column * legend_.width : frame_.right() + 18;
    const double y = (legend_.below ? frame_.bottom() + 62 : frame_.y + 14) + row * kChartLegendRow;
    const Series& series = chart_.series[i];
    if (kind_of(series) != Chart::Kind::kScatter)
      svg.line({x, y}, {x + kLegendSample, y},
               {.stroke = palette_colour(i),
                .width = series.emphasised ? 3.2 : 2.0,
                .dash = palette_dash(i)});
    draw_mark(svg, mark_of(i), {x + kLegendSample / 2, y}, radius(series), palette_colour(i));
    const double room = legend_.below ? legend_.width - kLegendSample - 12 : kLegendWidest;
    svg.text({x + kLegendSample + 8, y + 4.5}, fitted(series.name, kLegendSize, room),
             {.size = kLegendSize, .bold = series.emphasised});
  }
}

std::string ChartComposition::svg() const {
  Svg svg(chart_.width, chart_.height, chart_.title);
  draw_title(svg, chart_.title, chart_.width);
  draw_grid(svg);
  for (std::size_t i = 0; i < placement_.labels.size(); ++i)
    if (const PlacedLabel& label = placement_.labels[i]; label.leader)
      svg.line(placement_.marks[i], label.leader_end, {.stroke = kFaded, .width = 0.8});
  for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_series(svg, i);
  for (std::size_t i = 0; i < placement_.labels.size(); ++i)
    svg.text(placement_.labels[i].baseline, placement_.texts[i],
             {.size = kChartTextSize - 1, .halo = true});
  draw_legend(svg);
  draw_caption(svg, caption_, chart_.height);
  return svg.finish();
}

}  // namespace

std::string chart_svg(const Chart& chart) {
  return ChartComposition(chart).svg();
}

std::vector<PlacedLabel> chart_labels(const Chart& chart) {
  return ChartComposition(chart).labels();
}

std::vector<std::string> caption_lines(const std::string& caption, double width) {
  return text_lines(caption, kCaptionSize, width - 2 * kMargin);
}

void draw_title(Svg& svg, const std::string& title, double width) {
  svg.text({kMargin, 32}, fitted(title, 19, width - 2 * kMargin), {.size = 18, .bold = true});
}

void draw_caption(Svg& svg, const std::vector<std::string>& lines, double height) {
  for (std::size_t i = 0; i < lines.size(); ++i)
    svg.text({kMargin, height - 12 - kCaptionLine * double(lines.size() - 1 - i)}, lines[i],
             {.size = kCaptionSize, .colour = kFaded});
}

}  // namespace cotillion
