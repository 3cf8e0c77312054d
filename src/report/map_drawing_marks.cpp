#include "report/map_drawing_marks.hpp"

#include <algorithm>
#include <cmath>

namespace cotillion {
namespace {

constexpr int kBentMost = 60;  // links; on larger maps bends would not untangle anything

// From inside the rim towards a point beyond it on the left or on the right: where the way leaves
// the picture, or the point itself where that is no farther.
Point to_rim(Point from, Point towards, const Box& rim) {
  const double step = towards.x - from.x;
  const double room = (step < 0 ? rim.x : rim.right()) - from.x;
  const double share = step == 0 ? 1 : std::clamp(room / step, 0.0, 1.0);
  return {from.x + share * step, from.y + share * (towards.y - from.y)};
}

std::vector<Point> bow(Point from, Point to, double bend) {
  if (bend == 0) return {from, to};
  const Point middle{(from.x + to.x) / 2 - bend * (to.y - from.y),
                     (from.y + to.y) / 2 + bend * (to.x - from.x)};
  std::vector<Point> points;
  constexpr int kParts = 16;
  for (int i = 0; i <= kParts; ++i) {
    const double t = double(i) / kParts, s = 1 - t;
    points.push_back({s * s * from.x + 2 * s * t * middle.x + t * t * to.x,
                      s * s * from.y + 2 * s * t * middle.y + t * t * to.y});
  }
  return points;
}

bool runs_through(const std::vector<Point>& line, const Box& box) {
  for (std::size_t i = 1; i < line.size(); ++i)
    if (crosses(line[i - 1], line[i], box)) return true;
  return false;
}

}  // namespace

Box box_around(Point at, double radius) {
  return {at.x - radius, at.y - radius, 2 * radius, 2 * radius};
}

IslandStyle island_style(const Map& map, const Box& frame) {
  IslandStyle style;
  const double each = std::sqrt(frame.width * frame.height / std::max(1, map.place_count()));
  double widest = 0;
  for (const Island& island : map.islands) widest = std::max(widest, text_width(island.name, 1));
  style.text_size = std::clamp(each / 8, 8.0, 11.5);
  const double radius = std::max(0.62 * widest * style.text_size, 0.95 * style.text_size);
  style.name_inside = radius < 24 && 2.6 * radius < each * 0.75;
  if (style.name_inside) {
    style.radius = radius;
    style.apart = std::min(2 * radius + 38, each * 0.75);
  } else {
    style.radius = std::clamp(each / 10, 2.0, 5.0);
    style.apart = std::min(44.0, 0.6 * each);
  }
  return style;
}

LinkWay way_around(Point a, Point b, double turn, const Box& rim) {
  const double shift = a.x < b.x ? turn : -turn;
  return {{a, to_rim(a, {b.x - shift, b.y}, rim)}, {b, to_rim(b, {a.x + shift, a.y}, rim)}};
}

LinkWay way_of_link(const Map& map, const MapLayout& layout, int link, const Box& rim,
                    double radius) {
  const Link& ends = map.links[link];
  const Point a = layout.places[ends.ends[0]], b = layout.places[ends.ends[1]];
  if (layout.around[link]) return way_around(a, b, layout.turn, rim);
  if (int(map.links.size()) > kBentMost) return {{a, b}, {}};
  for (const double bend : {0.0, 0.12, -0.12, 0.22, -0.22}) {
    const std::vector<Point> line = bow(a, b, bend);
    bool free = true;
    for (PlaceId place = 0; free && place < map.place_count(); ++place)
      free = place == ends.ends[0] || place == ends.ends[1] ||
             !runs_through(line, box_around(layout.places[place], radius + 2));
    if (free) return {line, {}};
  }
  return {{a, b}, {}};
}

std::size_t draw_names(Svg& svg, const Map& map, const MapLayout& layout, const IslandStyle& style,
                       LabelPlacer& placer) {
  std::size_t missing = 0;
  for (PlaceId place = 0; place < map.place_count(); ++place) {
    const Point at = layout.places[place];
    const std::string& name = place_name(map, place);
    const bool island = place < map.island_count();
    if (island && style.name_inside) {
      svg.text({at.x, at.y + 0.36 * style.text_size}, name,
               {.size = style.text_size, .anchor = Anchor::kMiddle});
      continue;
    }
    const double size = island ? style.text_size : std::min(style.text_size, 10.0);
    const double radius = island ? style.radius : 3;
    if (const auto placed = placer.beside(at, radius, name, size, 0))
      svg.text(placed->baseline, name,
               {.size = size, .colour = island ? kInk : kFaded, .halo = true});
    else
      missing += island ? 1 : 0;
  }
  return missing;
}

}  // namespace cotillion
