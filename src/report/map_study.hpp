// Everything this room can say about a map, as figures and one page: the map, who meets whom, how
// updates survive, what every policy costs, how the answer moves, one round in time; and, where a
// search was made, how that went.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/sweep.hpp"
#include "report/page.hpp"
#include "report/search_report.hpp"

namespace cotillion {

using MapStudy = IllustratedPage;

// A search on the map that is studied, under the same settings.
struct SearchStory {
  SearchResult result;
  SearchConduct conduct;
  Constraints constraints;
};

// `network` as in NetworkModel; `compare.progress` is told what is being drawn. The page says what
// made it. What a search found is shown wherever the named schedules are.
[[nodiscard]] MapStudy study_map(const Map& map, const NetworkModelSettings& network,
                                 const CompareSettings& compare, const std::string& made_by,
                                 const SearchStory* search = nullptr);

}  // namespace cotillion
