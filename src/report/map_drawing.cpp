#include "report/map_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "report/chart.hpp"
#include "report/map_drawing_marks.hpp"

namespace cotillion {
namespace {

constexpr std::size_t kLinksLabelled = 40;
constexpr int kPlacesOnSmall = 60;  // more need a larger canvas
constexpr double kLabelSize = 11;
constexpr double kRimRoom = 96;  // beside the map, for links that leave it

std::string milliseconds(Duration latency) {
  const double ms = latency.ms();
  return fmt::format("{:.{}f}", ms, ms < 0.1 ? 3 : 1);
}

std::string latency_label(const Link& link) {
  const std::string there = milliseconds(link.latency[0]), back = milliseconds(link.latency[1]);
  return there == back ? there : there + "/" + back;
}

Point along(const std::vector<Point>& line, double share) {
  const double at = share * double(line.size() - 1);
  const auto i = std::min(std::size_t(at), line.size() - 2);
  const double rest = at - double(i);
  return {line[i].x + rest * (line[i + 1].x - line[i].x),
          line[i].y + rest * (line[i + 1].y - line[i].y)};
}

// On its own line or just beside it, where the fewest other links run.
void label_link(Svg& svg, LabelPlacer& placer, const std::vector<LinkWay>& ways, std::size_t link,
                const std::string& text) {
  const std::vector<Point>& line = ways[link].line;
  const double width = text_width(text, kLabelSize), height = kLabelSize;
  const Point from = line.front(), to = line.back();
  const double length = std::max(
      std::sqrt((to.x - from.x) * (to.x - from.x) + (to.y - from.y) * (to.y - from.y)), 1.0);
  const Point across{-(to.y - from.y) / length, (to.x - from.x) / length};
  int fewest = 1 << 30;
  Point best;
  for (const double share : {0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74})
    for (const double side : {0.0, -1.0, 1.0}) {
      const double off =
          side * (std::fabs(across.x) * width / 2 + std::fabs(across.y) * height / 2 + 3);
      const Point on = along(line, share);
      const Point centre{on.x + off * across.x, on.y + off * across.y};
      const Box box{centre.x - width / 2 - 1, centre.y - height / 2 - 1, width + 2, height + 2};
      if (!placer.is_free(box)) continue;
      int crossed = 0;
      for (std::size_t other = 0; other < ways.size(); ++other)
        for (const auto* part : {&ways[other].line, &ways[other].other})
          for (std::size_t i = 1; other != link && i < part->size(); ++i)
            crossed += crosses((*part)[i - 1], (*part)[i], box) ? 1 : 0;
      if (crossed >= fewest) continue;
      fewest = crossed;
      best = centre;
    }
  if (fewest == 1 << 30) return;
  const Box box{best.x - width / 2 - 2, best.y - height / 2 - 1, width + 4, height + 2};
  placer.keep_clear(box);
  svg.rect(box, {.fill = kWhite});  // a gap in the line, or it would strike the number out
  svg.text({best.x, best.y + 0.36 * kLabelSize}, text,
           {.size = kLabelSize, .anchor = Anchor::kMiddle});
}

// "to LAX 49.4", outside the rim where the link left the picture.
void label_stub(Svg& svg, LabelPlacer& placer, Point end, bool left, const std::string& text) {
  const double x = left ? end.x - 4 : end.x + 4;
  const double width = text_width(text, kLabelSize);
  for (const double shift : {0.0, -12.0, 12.0, -24.0, 24.0}) {
    const Box box{left ? x - width : x, end.y + shift - kLabelSize / 2, width, kLabelSize};
    if (!placer.is_free(box)) continue;
    placer.keep_clear(box);
    svg.text({x, end.y + shift + 0.36 * kLabelSize}, text,
             {.size = kLabelSize, .anchor = left ? Anchor::kEnd : Anchor::kStart, .halo = true});
    return;
  }
}

struct MapComposition {
  Box rim;  // where links that go around leave the picture
  IslandStyle style;
  MapLayout layout;
};

MapComposition compose(const Map& map, const Routes& routes, const Box& canvas, double beside) {
  MapComposition made;
  made.rim = {beside, kTitleHeight, canvas.width - 2 * beside, canvas.height - 120};
  made.style = island_style(map, made.rim);
  const double inner = made.style.radius + (beside == kRimRoom ? 26 : 4);  // stubs must be seen
  made.layout = lay_out_map(
      map, routes,
      {made.rim.x + inner, made.rim.y + 22, made.rim.width - 2 * inner, made.rim.height - 44},
      made.style.apart);
  return made;
}

// What the drawing does not say by itself.
std::string caption_of(const Map& map, const MapLayout& layout, bool labelled,
                       std::size_t nameless) {
  std::string caption = fmt::format(
      "{}, {}{}.", counted(map.islands.size(), "island"), counted(map.links.size(), "link"),
      map.routers.empty() ? ""
                          : fmt::format(", {} (squares)", counted(map.routers.size(), "router")));
  if (labelled && !map.links.empty()) caption += " Numbers are one-way latencies in ms.";
  caption += layout.geographic ? " Close places are pushed apart, and heights stretched."
                               : " The map gives no coordinates: distances follow latencies.";
  if (std::any_of(layout.around.begin(), layout.around.end(), [](bool around) { return around; }))
    caption += " Dashed links go on at the other side.";
  if (nameless > 0) caption += fmt::format(" {} found no room.", counted(nameless, "name"));
  return caption;
}

}  // namespace

std::string map_svg(const Map& map, const Routes& routes) {
  const std::string title = map.name.empty() ? "Map" : map.name;
  const bool labelled = map.links.size() <= kLinksLabelled;
  const bool large = map.place_count() > kPlacesOnSmall;
  const Box canvas{0, 0, large ? 1200.0 : kCanvasWidth, large ? 820.0 : kCanvasHeight};
  MapComposition composition = compose(map, routes, canvas, kRimRoom);
  // Room beside the map is for links that leave it; where none does the map may have it.
  if (std::none_of(composition.layout.around.begin(), composition.layout.around.end(),
                   [](bool around) { return around; }))
    composition = compose(map, routes, canvas, kMargin);
  const auto& [rim, style, layout] = composition;

  Svg svg(canvas.width, canvas.height, title);
  draw_title(svg, title, canvas.width);
  std::vector<LinkWay> ways;
  for (std::size_t i = 0; i < map.links.size(); ++i)
    ways.push_back(way_of_link(map, layout, int(i), rim, style.radius));
  const bool thin = map.links.size() > 100;
  const Paint solid{.stroke = thin ? "#999999" : "#666666", .width = thin ? 0.7 : 1.5};
  const Paint dashed{.stroke = solid.stroke, .width = solid.width, .dash = "5 3"};
  for (const LinkWay& way : ways) {
    svg.polyline(way.line, way.other.empty() ? solid : dashed);
    svg.polyline(way.other, dashed);
  }
  LabelPlacer placer({4, kTitleHeight - 8, canvas.width - 8, canvas.height - kTitleHeight - 20});
  for (PlaceId place = 0; place < map.place_count(); ++place) {
    const bool island = place < map.island_count();
    const double radius = island ? style.radius : 2.5;
    placer.add_mark(layout.places[place], radius + 1);
    if (!island)
      svg.rect(box_around(layout.places[place], radius), {.fill = kFaded});
    else if (style.name_inside)
      svg.circle(layout.places[place], radius, {.stroke = kInk, .width = 1.6, .fill = kWhite});
    else
      svg.circle(layout.places[place], radius, {.stroke = kWhite, .width = 0.8, .fill = kInk});
  }
  const std::size_t nameless = draw_names(svg, map, layout, style, placer);
  for (std::size_t i = 0; labelled && i < ways.size(); ++i) {
    const std::string latency = latency_label(map.links[i]);
    if (ways[i].other.empty()) {
      label_link(svg, placer, ways, i, latency);
      continue;
    }
    for (const int end : {0, 1}) {
      const Point out = (end == 0 ? ways[i].line : ways[i].other).back();
      const std::string to = place_name(map, map.links[i].ends[1 - end]);
      label_stub(svg, placer, out, out.x < rim.centre().x,
                 fmt::format("{} {}", fitted("to " + to, kLabelSize, kRimRoom - 40), latency));
    }
  }

  const std::string caption = caption_of(map, layout, labelled, nameless);
  draw_caption(svg, caption_lines(caption, canvas.width), canvas.height);
  return svg.finish();
}

}  // namespace cotillion
