// What tells one series from another: a colour that colour-blind readers can tell apart (Okabe
// and Ito's set, ordered so that neighbours differ in luminance), and a dash, a mark and a hatch
// besides, because a figure must survive a grey printer.
#pragma once

#include <cstddef>
#include <string_view>

#include "report/svg.hpp"

namespace cotillion {

[[nodiscard]] std::string_view palette_colour(std::size_t index);
[[nodiscard]] std::string_view palette_dash(std::size_t index);  // the first is solid

// kAuto: by the index of the series.
enum class Mark { kAuto, kNone, kDisc, kSquare, kTriangle, kDiamond, kRing, kCross, kHollowSquare };
[[nodiscard]] Mark palette_mark(std::size_t index);
void draw_mark(Svg& svg, Mark mark, Point at, double radius, std::string_view colour);

// A box filled with the colour and, from the second index on, hatched in white or ink.
void draw_hatched(Svg& svg, const Box& box, std::size_t index);

}  // namespace cotillion
