#include "report/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "report/chart.hpp"
#include "report/chart_axis.hpp"

namespace cotillion {
namespace {

constexpr double kBarTextSize = 13;
constexpr int kTicks = 7;
constexpr double kBarLegendRow = 24;
constexpr double kBarWidest = 70;
constexpr double kBarValueLeast = 9.5;  // smaller ones are written upwards instead

struct Layout {
  Box frame;
  double slot = 0;  // width of a group with the gap beside it
  double bar = 0;
  double value_size = 12;
  bool values_turned = false;  // written upwards, where bars are narrower than numbers
};

std::string bar_value_text(const BarChart& chart, double value) {
  return fmt::format("{:.{}f}", value, chart.decimals);
}

// Entries of the legend, row by row, each with the x at which it starts.
struct LegendEntry {
  double x = 0;
  int row = 0;
};

std::vector<LegendEntry> legend_of(const BarChart& chart) {
  std::vector<LegendEntry> entries;
  double x = kMargin;
  int row = 0;
  for (const std::string& name : chart.bars) {
    const double width = 30 + text_width(name, kBarTextSize) + 22;
    if (x > kMargin && x + width > chart.width - kMargin) {
      x = kMargin;
      ++row;
    }
    entries.push_back({x, row});
    x += width;
  }
  return entries;
}

Layout lay_out(const BarChart& chart, const std::vector<Tick>& ticks, double above, double below) {
  double tick_width = 0;
  for (const Tick& tick : ticks)
    tick_width = std::max(tick_width, text_width(tick.label, kBarTextSize));
  const double left = kMargin + 22 + tick_width + 8;
  Layout layout;
  layout.frame = {left, above, std::max(60.0, chart.width - kMargin - left),
                  std::max(60.0, chart.height - below - above)};
  const double groups = double(std::max<std::size_t>(1, chart.groups.size()));
  const double bars = double(std::max<std::size_t>(1, chart.bars.size()));
  layout.slot = layout.frame.width / groups;
  layout.bar = std::min(kBarWidest, layout.slot * 0.82 / bars);
  double widest = 0;  // of a value, at a font size of one
  for (const BarGroup& group : chart.groups)
    for (const double value : group.values)
      if (is_drawable(value, false))
        widest = std::max(widest, text_width(bar_value_text(chart, value), 1));
  layout.value_size = std::min(12.0, (layout.bar - 6) / std::max(widest, 1e-3));
  layout.values_turned = layout.value_size < kBarValueLeast;
  if (layout.values_turned) layout.value_size = std::clamp(layout.bar - 2, 6.0, 12.0);
  return layout;
}

void draw_bar(Svg& svg, const BarChart& chart, const Layout& layout, const Axis& y, Point foot,
              std::size_t bar, double value) {
  const double middle = foot.x + layout.bar / 2;
  if (!is_drawable(value, false)) {
    svg.text({middle + 4, foot.y - 6}, chart.missing,
             {.size = std::clamp(layout.bar - 2, 6.0, 12.0), .colour = kFaded, .turn = -90});
    return;
  }
  const double end = y.pixel(value);
  draw_hatched(svg, {foot.x, std::min(end, foot.y), layout.bar - 2, std::fabs(foot.y - end)}, bar);
  const std::string text = bar_value_text(chart, value);
  const double top = std::min(end, foot.y);
  if (layout.values_turned)
    svg.text({middle - 1 + layout.value_size * 0.36, top - 5}, text,
             {.size = layout.value_size, .turn = -90, .halo = true});
  else
    svg.text({middle - 1, top - 5}, text,
             {.size = layout.value_size, .anchor = Anchor::kMiddle, .halo = true});
}

}  // namespace

std::string bars_svg(const BarChart& chart) {
  std::vector<double> values;
  for (const BarGroup& group : chart.groups) {
    COTILLION_CHECK(group.values.size() == chart.bars.size());
    values.insert(values.end(), group.values.begin(), group.values.end());
  }
  Axis y(values, true, false);
  y.round_up(kTicks);
  const std::vector<Tick> ticks = y.ticks(kTicks);
  const std::vector<std::string> caption = caption_lines(chart.caption, chart.width);
  const std::vector<LegendEntry> legend = legend_of(chart);
  const double rows = chart.bars.size() < 2 ? 0 : legend.back().row + 1;
  const double below = 34 + double(caption.size()) * kCaptionLine + 14;
  const Layout layout = lay_out(chart, ticks, kTitleHeight + rows * kBarLegendRow + 4, below);
  const Box& frame = layout.frame;
  // The head of the frame is for the value on the tallest bar.
  y.place(frame.bottom(), frame.y + (layout.values_turned ? 48 : 22));

  Svg svg(chart.width, chart.height, chart.title);
  draw_title(svg, chart.title, chart.width);
  for (std::size_t i = 0; rows > 0 && i < legend.size(); ++i) {
    const double at = kTitleHeight + 4 + legend[i].row * kBarLegendRow;
    draw_hatched(svg, {legend[i].x, at - 6, 22, 14}, i);
    svg.text({legend[i].x + 30, at + 6}, chart.bars[i], {.size = kBarTextSize});
  }
  for (const Tick& tick : ticks) {
    const double at = y.pixel(tick.value);
    svg.line({frame.x, at}, {frame.right(), at}, {.stroke = kGrid});
    svg.text({frame.x - 7, at + 4.5}, tick.label,
             {.size = kBarTextSize, .anchor = Anchor::kEnd, .colour = kFaded});
  }
  const double zero = y.pixel(0);
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const double left = frame.x + layout.slot * double(g);
    const double start = left + (layout.slot - layout.bar * double(chart.bars.size())) / 2;
    for (std::size_t b = 0; b < chart.bars.size(); ++b)
      draw_bar(svg, chart, layout, y, {start + layout.bar * double(b), zero}, b,
               chart.groups[g].values[b]);
    svg.text({left + layout.slot / 2, frame.bottom() + 20},
             fitted(chart.groups[g].name, kBarTextSize, layout.slot - 6),
             {.size = kBarTextSize, .anchor = Anchor::kMiddle});
  }
  svg.line({frame.x, zero}, {frame.right(), zero}, {.stroke = kInk, .width = 1.2});
  svg.text({kMargin + 8, frame.centre().y}, chart.y_label,
           {.size = kBarTextSize, .anchor = Anchor::kMiddle, .turn = -90});
  draw_caption(svg, caption, chart.height);
  return svg.finish();
}

}  // namespace cotillion
