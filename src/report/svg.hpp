// A tiny SVG writer, no more than the figures need. All text is escaped here and every number is
// written here, so that no figure can carry foreign markup, a locale's comma or a NaN. Nothing in
// a drawing has an id: many of them may stand in one HTML page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cotillion {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
  [[nodiscard]] Point centre() const { return {x + width / 2, y + height / 2}; }
};

inline constexpr double kCanvasWidth = 900;
inline constexpr double kCanvasHeight = 560;
inline constexpr std::string_view kInk = "#1a1a1a";    // text and axes
inline constexpr std::string_view kFaded = "#555555";  // captions, ticks
inline constexpr std::string_view kGrid = "#dddddd";
inline constexpr std::string_view kWhite = "#ffffff";

// How a shape is painted; dash as in stroke-dasharray, empty for a solid line.
struct Paint {
  std::string_view stroke = "none";
  double width = 1;
  std::string_view dash = {};
  std::string_view fill = "none";
  double fill_opacity = 1;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 13;
  Anchor anchor = Anchor::kStart;
  std::string_view colour = kInk;
  bool bold = false;
  double turn = 0;    // degrees clockwise about the point
  bool halo = false;  // a white rim, for text over lines
};

class Svg {
 public:
  // `title` is what a screen reader says in place of the picture.
  Svg(double width, double height, std::string_view title);

  void line(Point from, Point to, const Paint& paint);
  // Nothing for fewer than two points.
  void polyline(const std::vector<Point>& points, const Paint& paint);
  void polygon(const std::vector<Point>& points, const Paint& paint);
  void rect(const Box& box, const Paint& paint, double corner = 0);
  void circle(Point centre, double radius, const Paint& paint);
  // `at` is on the baseline.
  void text(Point at, std::string_view text, const TextStyle& style = {});

  [[nodiscard]] std::string finish() const { return body_ + "</svg>\n"; }

 private:
  void painted(const Paint& paint);
  void points(std::string_view element, const std::vector<Point>& points, const Paint& paint);
  std::string body_;
};

// For element text and quoted attributes alike, of XML and of HTML. Control characters and bytes
// that are no UTF-8 become '?'.
[[nodiscard]] std::string escaped(std::string_view text);

// At most two decimals and never "-0": the same bytes on any machine. Requires a finite value.
[[nodiscard]] std::string svg_number(double value);

}  // namespace cotillion
