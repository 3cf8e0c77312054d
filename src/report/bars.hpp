// Bars in groups, with their values written on them: for a handful of choices under a handful of
// conditions, where a reader wants the number as well as the shape.
#pragma once

#include <string>
#include <vector>

#include "report/svg.hpp"

namespace cotillion {

struct BarGroup {
  std::string name;            // under the group
  std::vector<double> values;  // one per bar; infinite or undefined where there is none
};

struct BarChart {
  std::string title;
  std::string caption;
  std::string y_label;            // with the unit
  std::vector<std::string> bars;  // what the bars of each group are, in the legend
  std::vector<BarGroup> groups;
  int decimals = 0;                    // of the values written
  std::string missing = "infeasible";  // written where a value should stand
  double width = kCanvasWidth;
  double height = kCanvasHeight;
};

// Requires as many values in each group as there are bars.
[[nodiscard]] std::string bars_svg(const BarChart& chart);

}  // namespace cotillion
