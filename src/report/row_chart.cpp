#include "report/row_chart.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "report/chart.hpp"
#include "report/chart_axis.hpp"

namespace cotillion {
namespace {

constexpr double kRowTextSize = 13;
constexpr double kRowNamesWidest = 300;
constexpr double kRowHeight = 24;
constexpr double kRowLegendRow = 24;
constexpr double kRowPanelGap = 34;
constexpr double kRowInset = 12;  // marks do not touch the frame
constexpr double kRowMarkRadius = 5;
constexpr double kApart = 5;  // marks of two series that stand at the same place

struct PanelFrame {
  Box frame;
  Axis axis;
  std::vector<Tick> ticks;
};

bool is_drawn(const RowValue& value) {
  return is_drawable(value.value, false) && is_drawable(value.least, false) &&
         is_drawable(value.most, false);
}

Axis axis_of(const RowPanel& panel) {
  std::vector<double> values;
  for (const auto& series : panel.values)
    for (const RowValue& value : series)
      if (is_drawn(value)) values.insert(values.end(), {value.least, value.value, value.most});
  return {values, true, false};
}

// As many ticks as their labels leave room for.
std::vector<Tick> ticks_of(const Axis& axis) {
  std::vector<Tick> ticks;
  for (int wanted = 7; wanted > 1; --wanted) {
    ticks = axis.ticks(wanted);
    bool roomy = true;
    for (std::size_t i = 1; i < ticks.size(); ++i)
      roomy = roomy && axis.pixel(ticks[i].value) - axis.pixel(ticks[i - 1].value) >
                           (text_width(ticks[i].label, kRowTextSize) +
                            text_width(ticks[i - 1].label, kRowTextSize)) /
                                   2 +
                               10;
    if (roomy) break;
  }
  return ticks;
}

class RowDrawing {
 public:
  explicit RowDrawing(const RowChart& chart)
      : chart_(chart), caption_(caption_lines(chart.caption, chart.width)) {
    for (const RowPanel& panel : chart.panels)
      COTILLION_CHECK(panel.values.size() == chart.series.size());
    lay_out();
  }

  [[nodiscard]] std::string svg() const {
    Svg svg(chart_.width, height_, chart_.title);
    draw_title(svg, chart_.title, chart_.width);
    draw_legend(svg);
    for (std::size_t r = 0; r < chart_.rows.size(); ++r)
      svg.text({names_right_, middle(r) + 4.5},
               fitted(chart_.rows[r], kRowTextSize, names_right_ - kMargin),
               {.size = kRowTextSize, .anchor = Anchor::kEnd});
    for (std::size_t p = 0; p < panels_.size(); ++p) draw_panel(svg, p);
    draw_caption(svg, caption_, height_);
    return svg.finish();
  }

 private:
  [[nodiscard]] double middle(std::size_t row) const {
    return top_ + kRowHeight * (double(row) + 0.5);
  }

  void lay_out() {
    double names = 0;
    for (const std::string& name : chart_.rows)
      names = std::max(names, text_width(name, kRowTextSize));
    names_right_ = kMargin + std::min(names, kRowNamesWidest) + 2;
    double x = kMargin;
    for (const std::string& name : chart_.series) {
      const double width = 20 + text_width(name, kRowTextSize) + 22;
      if (x > kMargin && x + width > chart_.width - kMargin) x = kMargin, ++legend_rows_;
      legend_.push_back({x, kTitleHeight + legend_rows_ * kRowLegendRow});
      x += width;
    }
    top_ = kTitleHeight + (legend_rows_ + 1) * kRowLegendRow;
    const double rows = kRowHeight * double(std::max<std::size_t>(1, chart_.rows.size()));
    height_ = top_ + rows + 48 + double(caption_.size()) * kCaptionLine + 14;
    const double count = double(std::max<std::size_t>(1, chart_.panels.size()));
    const double left = names_right_ + 12;
    const double each = (chart_.width - kMargin - left - kRowPanelGap * (count - 1)) / count;
    for (std::size_t p = 0; p < chart_.panels.size(); ++p) {
      PanelFrame panel{{left + (each + kRowPanelGap) * double(p), top_, each, rows},
                       axis_of(chart_.panels[p]),
                       {}};
      panel.axis.place(panel.frame.x + kRowInset, panel.frame.right() - kRowInset);
      panel.ticks = ticks_of(panel.axis);
      panels_.push_back(std::move(panel));
    }
  }

  [[nodiscard]] static std::string_view colour(std::size_t series) {
    return series == 0 ? kInk : palette_colour(series - 1);
  }
  [[nodiscard]] static Mark mark(std::size_t series) {
    return series == 0 ? Mark::kRing : palette_mark(series - 1);
  }

  void draw_legend(Svg& svg) const {
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      draw_mark(svg, mark(s), {legend_[s].x + 6, legend_[s].y}, radius(s), colour(s));
      svg.text({legend_[s].x + 20, legend_[s].y + 4.5}, chart_.series[s], {.size = kRowTextSize});
    }
  }

  // A mark inside the ring is where it was planned to be.
  [[nodiscard]] static double radius(std::size_t series) {
    return series == 0 ? kRowMarkRadius + 2 : kRowMarkRadius - 0.5;
  }

  void draw_panel(Svg& svg, std::size_t index) const {
    const PanelFrame& panel = panels_[index];
    const Box& frame = panel.frame;
    for (const Tick& tick : panel.ticks) {
      const double x = panel.axis.pixel(tick.value);
      svg.line({x, frame.y}, {x, frame.bottom()}, {.stroke = kGrid});
      svg.text({x, frame.bottom() + 18}, tick.label,
               {.size = kRowTextSize, .anchor = Anchor::kMiddle, .colour = kFaded});
    }
    for (std::size_t r = 0; r < chart_.rows.size(); ++r)
      svg.line({frame.x, middle(r)}, {frame.right(), middle(r)}, {.stroke = kGrid, .dash = "1 3"});
    const double zero = panel.axis.pixel(0);
    svg.line({zero, frame.y}, {zero, frame.bottom()}, {.stroke = kInk, .width = 1.2});
    svg.line({frame.x, frame.bottom()}, {frame.right(), frame.bottom()},
             {.stroke = kInk, .width = 1.2});
    svg.text({frame.centre().x, frame.bottom() + 39}, chart_.panels[index].label,
             {.size = kRowTextSize, .anchor = Anchor::kMiddle});
    const auto& values = chart_.panels[index].values;
    for (std::size_t s = 0; s < values.size(); ++s)
      for (std::size_t r = 0; r < values[s].size() && r < chart_.rows.size(); ++r)
        if (is_drawn(values[s][r])) draw_value(svg, panel, s, middle(r), values[s][r]);
  }

  // The first series stays on the row's line; the others are spread about it.
  void draw_value(Svg& svg, const PanelFrame& panel, std::size_t series, double middle_of_row,
                  const RowValue& value) const {
    double y = middle_of_row;
    if (series > 0) y += kApart * (double(series) - double(chart_.series.size()) / 2);
    const Point from{panel.axis.pixel(value.least), y}, to{panel.axis.pixel(value.most), y};
    if (value.most > value.least) {
      svg.line(from, to, {.stroke = colour(series), .width = 1.6});
      for (const Point& end : {from, to})
        svg.line({end.x, y - 3}, {end.x, y + 3}, {.stroke = colour(series), .width = 1.6});
    }
    draw_mark(svg, mark(series), {panel.axis.pixel(value.value), y}, radius(series),
              colour(series));
  }

  const RowChart& chart_;
  std::vector<std::string> caption_;
  std::vector<Point> legend_;
  int legend_rows_ = 0;
  double names_right_ = 0, top_ = 0, height_ = 0;
  std::vector<PanelFrame> panels_;
};

}  // namespace

std::string row_chart_svg(const RowChart& chart) {
  return RowDrawing(chart).svg();
}

}  // namespace cotillion
