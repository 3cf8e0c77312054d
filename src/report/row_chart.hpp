// Names in rows and marks beside them, on one scale or two: for many things that were planned and
// then seen, where a reader wants to find one by its name and see how far it is off.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "report/svg.hpp"

namespace cotillion {

// Infinite or undefined where there is none; a line joins least and most.
struct RowValue {
  double value = std::numeric_limits<double>::quiet_NaN();
  double least = value;
  double most = value;
};

struct RowPanel {
  std::string label;                          // of its scale, with the unit
  std::vector<std::vector<RowValue>> values;  // by series and row; none at all for a series: empty
};

struct RowChart {
  std::string title;
  std::string caption;
  std::vector<std::string> rows;
  std::vector<std::string> series;  // the first is hollow: what the others are compared with
  std::vector<RowPanel> panels;
  double width = kCanvasWidth;
};

// As high as its rows need. Requires panels with as many series as are named.
[[nodiscard]] std::string row_chart_svg(const RowChart& chart);

}  // namespace cotillion
