// Panels of one schedule: where its cliques lie on the map, round by round.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart.hpp"
#include "report/map_drawing.hpp"
#include "report/map_drawing_marks.hpp"
#include "report/svg_palette.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kPanelsMost = 12;
constexpr std::size_t kTiedPairwise = 5;  // members; larger cliques are tied through their middle
constexpr std::size_t kIslandsOnSmall = 20;  // more need larger panels
constexpr std::size_t kLinksMost = 200;      // more would only darken the ground
constexpr std::size_t kNamesMost = 60;
constexpr double kCliqueGap = 14, kPanelTitle = 22;

std::size_t columns_for(std::size_t panels, std::size_t islands) {
  if (islands > kIslandsOnSmall) return std::min<std::size_t>(2, std::max<std::size_t>(1, panels));
  if (panels <= 3) return std::max<std::size_t>(1, panels);
  return panels == 4 ? 2 : panels <= 9 ? 3 : 4;
}

// Corners of the smallest convex polygon around the points, in order (Andrew's chain).
std::vector<Point> hull_of(std::vector<Point> points) {
  std::sort(points.begin(), points.end(),
            [](Point a, Point b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  const auto left_turn = [](Point a, Point b, Point c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0;
  };
  std::vector<Point> hull;
  for (const int pass : {0, 1}) {
    const std::size_t start = hull.size();
    for (const Point& point : points) {
      while (hull.size() >= start + 2 && !left_turn(hull[hull.size() - 2], hull.back(), point))
        hull.pop_back();
      hull.push_back(point);
    }
    if (!hull.empty()) hull.pop_back();
    if (pass == 0) std::reverse(points.begin(), points.end());
  }
  return hull;
}

void draw_ties(Svg& svg, const std::vector<Point>& members, std::size_t index, double turn,
               const Box& rim) {
  const Paint tie{.stroke = palette_colour(index), .width = 2, .dash = palette_dash(index)};
  if (members.size() > 2)
    svg.polygon(hull_of(members), {.fill = palette_colour(index), .fill_opacity = 0.1});
  // Two who meet across the cut would seem to meet across the whole world.
  if (members.size() == 2 && turn > 0 && std::fabs(members[0].x - members[1].x) > turn / 2) {
    const LinkWay way = way_around(members[0], members[1], turn, rim);
    svg.polyline(way.line, tie);
    svg.polyline(way.other, tie);
    return;
  }
  if (members.size() <= kTiedPairwise) {
    for (std::size_t i = 0; i < members.size(); ++i)
      for (std::size_t j = i + 1; j < members.size(); ++j) svg.line(members[i], members[j], tie);
    return;
  }
  Point middle;
  for (const Point& member : members)
    middle = {middle.x + member.x / double(members.size()),
              middle.y + member.y / double(members.size())};
  const Paint spoke{
      .stroke = tie.stroke, .width = members.size() > 24 ? 0.8 : 1.4, .dash = tie.dash};
  for (const Point& member : members) svg.line(middle, member, spoke);
}

struct CliquePanel {
  Box frame;
  std::string title;
};

void draw_panel(Svg& svg, const Map& map, const MapLayout& layout, const IslandStyle& style,
                const CliquePanel& panel, const Round& round) {
  svg.rect(panel.frame, {.stroke = kGrid});
  svg.text({panel.frame.x + 8, panel.frame.y + 16}, panel.title, {.size = 12, .bold = true});
  for (std::size_t i = 0; map.links.size() <= kLinksMost && i < map.links.size(); ++i) {
    const LinkWay way = way_of_link(map, layout, int(i), panel.frame, style.radius);
    svg.polyline(way.line, {.stroke = kGrid});
    svg.polyline(way.other, {.stroke = kGrid});
  }
  LabelPlacer placer(panel.frame);
  std::size_t index = 0;
  std::vector<std::size_t> colour(map.islands.size());
  std::vector<bool> alone(map.islands.size(), true);
  for (const Clique& clique : round.cliques) {
    if (clique.size() < 2) continue;
    std::vector<Point> members;
    for (const IslandId island : clique.islands) {
      members.push_back(layout.places[island]);
      colour[island] = index;
      alone[island] = false;
    }
    draw_ties(svg, members, index, layout.turn, panel.frame);
    ++index;
  }
  for (IslandId island = 0; island < map.island_count(); ++island) {
    const Point at = layout.places[island];
    placer.add_mark(at, style.radius + 1);
    const std::string_view stroke = alone[island] ? kFaded : palette_colour(colour[island]);
    if (style.name_inside)
      svg.circle(at, style.radius,
                 {.stroke = stroke, .width = alone[island] ? 1.0 : 2.2, .fill = kWhite});
    else if (alone[island])
      svg.circle(at, style.radius, {.stroke = stroke, .fill = kWhite});
    else
      draw_mark(svg, palette_mark(colour[island]), at, style.radius + 1, stroke);
  }
  if (map.islands.size() <= kNamesMost || style.name_inside)
    draw_names(svg, map, layout, style, placer);
}

}  // namespace

std::string cliques_svg(const Map& map, const Routes& routes, const Schedule& schedule) {
  const std::size_t panels = std::min(schedule.rounds.size(), kPanelsMost);
  const std::size_t columns = columns_for(panels, map.islands.size());
  const std::size_t rows = (panels + columns - 1) / columns;
  const double width =
      (kCanvasWidth - 2 * kMargin - kCliqueGap * double(columns - 1)) / double(columns);
  const double height = std::min(430.0, width * 0.7);

  std::string caption =
      "Members of a clique are tied to each other, or to their centre where there are many, in one "
      "colour and dash; islands that sit a "
      "round out are tied to nobody.";
  if (map.links.size() <= kLinksMost) caption += " Grey: the network's links.";
  if (panels < schedule.rounds.size())
    caption += fmt::format(" The first {} of {} rounds are drawn.", panels, schedule.rounds.size());
  // The same layout in every panel, so that eyes can jump between them.
  const Box inside{kMargin, 0, width, height};
  const IslandStyle style = island_style(map, inside);
  const double room = style.radius + 14;
  const MapLayout layout = lay_out_map(map, routes,
                                       {room, kPanelTitle + style.radius + 4, width - 2 * room,
                                        height - kPanelTitle - 2 * style.radius - 14},
                                       style.apart);
  if (layout.turn > 0) caption += " Ties over the rim go on at the other side.";
  if (!style.name_inside) caption += " Names are left out where there is no room.";
  const std::vector<std::string> lines = caption_lines(caption, kCanvasWidth);
  const double total = kTitleHeight + double(rows) * (height + kCliqueGap) +
                       double(lines.size()) * kCaptionLine + 12;
  const std::string title = "Cliques of each round: " + schedule.name;
  Svg svg(kCanvasWidth, total, title);
  draw_title(svg, title, kCanvasWidth);
  for (std::size_t k = 0; k < panels; ++k) {
    const std::size_t row = k / columns;
    const Point corner{kMargin + double(k % columns) * (width + kCliqueGap),
                       kTitleHeight + double(row) * (height + kCliqueGap)};
    MapLayout moved = layout;
    for (Point& point : moved.places) point = {point.x + corner.x, point.y + corner.y};
    draw_panel(svg, map, moved, style,
               {{corner.x, corner.y, width, height},
                fmt::format("round {} of {}", k + 1, schedule.rounds.size())},
               schedule.rounds[k]);
  }
  draw_caption(svg, lines, total);
  return svg.finish();
}

}  // namespace cotillion
