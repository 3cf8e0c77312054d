// What tells one series from another: a colour that colour-blind readers can tell apart (Okabe
// and Ito's set, ordered so that neighbours differ in luminance), and a dash, a mark and a hatch
// besides, because a figure must survive a grey printer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/svg.hpp"

namespace cotillion {

[[nodiscard]] std::string_view palette_colour(std::size_t index);
[[nodiscard]] std::string_view palette_dash(std::size_t index);  // the first is solid

// kAuto: by the index of the series.
enum class Mark { kAuto, kNone, kDisc, kSquare, kTriangle, kDiamond, kRing, kCross, kHollowSquare };
[[nodiscard]] Mark palette_mark(std::size_t index);
void draw_mark(Svg& svg, Mark mark, Point at, double radius, std::string_view colour);

// The same drawing for a page with a dark ground: each colour that figures use becomes its
// counterpart there, and nothing else changes.
[[nodiscard]] std::string on_dark_ground(const std::string& svg);

// A box filled with the colour and, from the second index on, hatched in white or ink.
void draw_hatched(Svg& svg, const Box& box, std::size_t index);

}  // namespace cotillion
