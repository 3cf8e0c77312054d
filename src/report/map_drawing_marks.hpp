// What both drawings of a map share: islands with their names, and the ways of links.
#pragma once

#include <string>
#include <vector>

#include "report/map_drawing_layout.hpp"
#include "report/svg_text.hpp"

namespace cotillion {

// How islands are drawn at a given size: with the name in a circle where all names are short and
// there is room, else as a dot with the name beside it.
struct IslandStyle {
  bool name_inside = false;
  double radius = 4;
  double text_size = 11;
  double apart = 20;  // least distance between two islands
};
[[nodiscard]] IslandStyle island_style(const Map& map, const Box& frame);

// The way of a link: one line; bent where it would run through an island at neither end; two
// lines, each to a rim of the picture, when it goes around.
struct LinkWay {
  std::vector<Point> line;
  std::vector<Point> other;  // empty unless around; `line` starts at ends[0], `other` at ends[1]
};
[[nodiscard]] LinkWay way_around(Point a, Point b, double turn, const Box& rim);
[[nodiscard]] LinkWay way_of_link(const Map& map, const MapLayout& layout, int link, const Box& rim,
                                  double radius);

// Names of islands and routers: inside, or placed so that none covers another or a mark. Returns
// how many islands' names found no room.
std::size_t draw_names(Svg& svg, const Map& map, const MapLayout& layout, const IslandStyle& style,
                       LabelPlacer& placer);

[[nodiscard]] Box box_around(Point at, double radius);

}  // namespace cotillion
