// Everything this room can say about a map, as figures and one page: the map, who meets whom, how
// updates survive, what every policy costs, how the answer moves, and one round in time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/sweep.hpp"
#include "report/page.hpp"

namespace cotillion {

struct NamedFigure {
  std::string name;  // a file name without its ending: "survival-triangles"
  std::string svg;
};

struct MapStudy {
  std::vector<NamedFigure> figures;
  Page page;
};

// `stage` as in Stage; `compare.progress` is told what is being drawn. The page says what made it.
[[nodiscard]] MapStudy study_map(const Map& map, const StageSettings& stage,
                                 const CompareSettings& compare, const std::string& made_by);

}  // namespace cotillion
