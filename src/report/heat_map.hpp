// Square matrices as panels of tinted cells: who has how much of whose state. The darker a cell,
// the larger its value, which is written into it where there is room.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/svg.hpp"

namespace cotillion {

inline constexpr std::size_t kHeatPanelsMax = 6;

struct HeatPanel {
  std::string name;
  std::vector<double> values;  // row by row, none below zero
};

struct HeatMap {
  std::string title;
  std::string caption;
  std::vector<std::string> names;  // of rows and columns
  std::vector<HeatPanel> panels;   // beyond kHeatPanelsMax they are counted in the caption
  double width = kCanvasWidth;
};

// As high as its panels need. Requires names.size()² values in each panel.
[[nodiscard]] std::string heat_map_svg(const HeatMap& map);

}  // namespace cotillion
