#include "report/svg_palette.hpp"

#include <algorithm>
#include <array>

namespace cotillion {
namespace {

constexpr std::array<std::string_view, 7> kColours = {
    "#0072b2",   // blue
    "#e69f00",   // orange
    "#000000",   // black
    "#009e73",   // bluish green
    "#cc79a7",   // reddish purple
    "#8c3b00",   // vermillion, darkened to stand apart from green in grey
    "#56b4e9"};  // sky blue
// As many as are prime to the number of colours, so that thirty-five series differ.
constexpr std::array<std::string_view, 5> kDashes = {"", "7 3", "2 3", "10 3 2 3", "4 2"};
// Of the colours that are too dark, or too light, to be seen on a dark ground.
constexpr std::array<std::array<std::string_view, 2>, 9> kOnDarkGround = {{{kWhite, "#0d1117"},
                                                                           {kInk, "#e6edf3"},
                                                                           {kFaded, "#9da7b1"},
                                                                           {kGrid, "#3d444d"},
                                                                           {"#000000", "#f0f6fc"},
                                                                           {"#666666", "#8b949e"},
                                                                           {"#999999", "#6e7681"},
                                                                           {"#0072b2", "#4aa8e8"},
                                                                           {"#8c3b00", "#e07b39"}}};
constexpr std::array<Mark, 6> kMarks = {Mark::kDisc, Mark::kSquare,  Mark::kTriangle,
                                        Mark::kRing, Mark::kDiamond, Mark::kCross};

// Lines at 45 degrees, cut to the box by hand: a clip path would need an id.
void diagonals(Svg& svg, const Box& box, double spacing, bool rising, const Paint& paint) {
  const double reach = box.width + box.height;
  for (double along = spacing; along < reach; along += spacing) {
    // From the top or right rim to the left or bottom one, mirrored for rising lines.
    const Point a{std::min(along, box.width), std::max(0.0, along - box.width)};
    const Point b{std::max(0.0, along - box.height), std::min(along, box.height)};
    const auto place = [&](Point p) {
      return Point{rising ? box.x + p.x : box.right() - p.x, box.y + p.y};
    };
    svg.line(place(a), place(b), paint);
  }
}

}  // namespace

std::string_view palette_colour(std::size_t index) {
  return kColours[index % kColours.size()];
}

std::string on_dark_ground(const std::string& svg) {
  constexpr std::size_t kColourSize = 7;
  std::string dark = svg;
  // Text cannot be mistaken for a colour: quotes in it are escaped.
  for (std::size_t at = 0; (at = dark.find("\"#", at)) != std::string::npos; ++at)
    for (const auto& [light, counterpart] : kOnDarkGround)
      if (dark.compare(at + 1, kColourSize, light) == 0) {
        dark.replace(at + 1, kColourSize, counterpart);
        break;
      }
  return dark;
}

std::string_view palette_dash(std::size_t index) {
  return kDashes[index % kDashes.size()];
}

Mark palette_mark(std::size_t index) {
  return kMarks[index % kMarks.size()];
}

void draw_mark(Svg& svg, Mark mark, Point at, double radius, std::string_view colour) {
  const Paint solid{.stroke = kWhite, .width = 0.8, .fill = colour};
  const Paint hollow{.stroke = colour, .width = 1.8, .fill = kWhite};
  const double r = radius;
  switch (mark) {
    case Mark::kAuto:
    case Mark::kNone:
      break;
    case Mark::kDisc:
      svg.circle(at, r, solid);
      break;
    case Mark::kRing:
      svg.circle(at, r - 0.4, hollow);
      break;
    case Mark::kSquare:
      svg.rect({at.x - 0.88 * r, at.y - 0.88 * r, 1.76 * r, 1.76 * r}, solid);
      break;
    case Mark::kHollowSquare:
      svg.rect({at.x - 0.8 * r, at.y - 0.8 * r, 1.6 * r, 1.6 * r}, hollow);
      break;
    case Mark::kTriangle:
      svg.polygon({{at.x, at.y - 1.15 * r}, {at.x + r, at.y + 0.7 * r}, {at.x - r, at.y + 0.7 * r}},
                  solid);
      break;
    case Mark::kDiamond:
      svg.polygon(
          {{at.x, at.y - 1.2 * r}, {at.x + r, at.y}, {at.x, at.y + 1.2 * r}, {at.x - r, at.y}},
          solid);
      break;
    case Mark::kCross:
      svg.line({at.x - 0.8 * r, at.y - 0.8 * r}, {at.x + 0.8 * r, at.y + 0.8 * r},
               {.stroke = colour, .width = 2});
      svg.line({at.x - 0.8 * r, at.y + 0.8 * r}, {at.x + 0.8 * r, at.y - 0.8 * r},
               {.stroke = colour, .width = 2});
      break;
  }
}

void draw_hatched(Svg& svg, const Box& box, std::size_t index) {
  const std::string_view colour = palette_colour(index);
  svg.rect(box, {.fill = colour});
  const Paint white{.stroke = kWhite, .width = 1.4};
  const std::size_t pattern = index % kDashes.size();
  if (pattern == 1 || pattern == 3) diagonals(svg, box, 7, true, white);
  if (pattern == 4 || pattern == 3) diagonals(svg, box, 7, false, white);
  svg.rect(box, {.stroke = kInk, .width = 0.8});
}

}  // namespace cotillion
