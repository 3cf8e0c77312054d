// XY charts as SVG: lines, steps and scatters, with units on the axes, a legend that never covers
// data, and series that stay distinct in grey.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/svg_palette.hpp"
#include "report/svg_text.hpp"

namespace cotillion {

enum class ChartKind { kLine, kScatter, kStep };

struct Series {
  std::string name;
  // In the order in which a line joins them. An infinite or undefined point is left out, breaks
  // the line, and is confessed in the caption.
  std::vector<std::pair<double, double>> points;
  Mark mark = Mark::kAuto;
  bool emphasised = false;                       // thicker, and labelled first
  std::vector<std::string> labels;               // of a scatter's points: one each, or none at all
  bool filled = false;                           // the area under it is tinted
  std::optional<ChartKind> kind = std::nullopt;  // where it differs from the chart's
};

struct Chart {
  using Kind = ChartKind;
  std::string title;
  std::string caption;  // below the plot, in whole sentences
  std::string x_label;  // with the unit
  std::string y_label;
  Kind kind = Kind::kLine;
  std::vector<Series> series;
  bool x_from_zero = true;
  bool x_whole = false;  // rounds are counted: no tick between two of them
  bool y_from_zero = true;
  bool x_log = false;
  bool y_log = false;
  double width = kCanvasWidth;
  double height = kCanvasHeight;
};

[[nodiscard]] std::string chart_svg(const Chart& chart);

// A scatter's labels as chart_svg places them: no two overlap, none covers a mark. Labels for
// which there is no room are missing.
[[nodiscard]] std::vector<PlacedLabel> chart_labels(const Chart& chart);

// Title and caption, as all figures have them: the caption's lines end above `height`.
[[nodiscard]] std::vector<std::string> caption_lines(const std::string& caption, double width);
inline constexpr double kMargin = 24;
inline constexpr double kTitleHeight = 52;
inline constexpr double kCaptionLine = 17;
void draw_title(Svg& svg, const std::string& title, double width);
void draw_caption(Svg& svg, const std::vector<std::string>& lines, double height);

}  // namespace cotillion
