#include "report/svg.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/check.hpp"
#include "base/text.hpp"

namespace cotillion {
namespace {

// Valid UTF-8 that XML forbids all the same.
bool is_noncharacter(std::string_view character) {
  return character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf";
}

// Bytes of the plain character at the front; none where there is no such character.
std::size_t plain_size(std::string_view text) {
  for (std::size_t size = 1; size <= 4 && size <= text.size(); ++size) {
    const std::string_view front = text.substr(0, size);
    if (is_plain(front)) return is_noncharacter(front) ? 0 : size;
  }
  return 0;
}

std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::kStart ? "start" : anchor == Anchor::kMiddle ? "middle" : "end";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t size = plain_size(text);
    switch (size == 1 ? text[0] : ' ') {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += size == 0 ? "?" : text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return safe;
}

std::string svg_number(double value) {
  COTILLION_CHECK(std::isfinite(value));
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

Svg::Svg(double width, double height, std::string_view title) {
  const std::string w = svg_number(width), h = svg_number(height);
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\" "
      "font-family=\"DejaVu Sans, Arial, sans-serif\">\n",
      w, h, escaped(title));
  rect({0, 0, width, height}, {.fill = kWhite});
}

void Svg::painted(const Paint& paint) {
  body_ += fmt::format(" fill=\"{}\"", escaped(paint.fill));
  if (paint.fill_opacity != 1)
    body_ += fmt::format(" fill-opacity=\"{}\"", svg_number(paint.fill_opacity));
  if (paint.stroke != "none") {
    body_ += fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", escaped(paint.stroke),
                         svg_number(paint.width));
    if (!paint.dash.empty()) body_ += fmt::format(" stroke-dasharray=\"{}\"", escaped(paint.dash));
  }
  body_ += "/>\n";
}

void Svg::line(Point from, Point to, const Paint& paint) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", svg_number(from.x),
                       svg_number(from.y), svg_number(to.x), svg_number(to.y));
  painted(paint);
}

void Svg::points(std::string_view element, const std::vector<Point>& points, const Paint& paint) {
  if (points.size() < 2) return;
  body_ += fmt::format("<{} stroke-linejoin=\"round\" points=\"", element);
  for (std::size_t i = 0; i < points.size(); ++i)
    body_ +=
        fmt::format("{}{},{}", i == 0 ? "" : " ", svg_number(points[i].x), svg_number(points[i].y));
  body_ += '"';
  painted(paint);
}

void Svg::polyline(const std::vector<Point>& points, const Paint& paint) {
  this->points("polyline", points, paint);
}

void Svg::polygon(const std::vector<Point>& points, const Paint& paint) {
  this->points("polygon", points, paint);
}

void Svg::rect(const Box& box, const Paint& paint, double corner) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", svg_number(box.x),
                       svg_number(box.y), svg_number(box.width), svg_number(box.height));
  if (corner > 0) body_ += fmt::format(" rx=\"{}\"", svg_number(corner));
  painted(paint);
}

void Svg::circle(Point centre, double radius, const Paint& paint) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", svg_number(centre.x),
                       svg_number(centre.y), svg_number(radius));
  painted(paint);
}

void Svg::text(Point at, std::string_view text, const TextStyle& style) {
  const std::string x = svg_number(at.x), y = svg_number(at.y);
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"", x, y,
                       svg_number(style.size), escaped(style.colour));
  if (style.anchor != Anchor::kStart)
    body_ += fmt::format(" text-anchor=\"{}\"", anchor_name(style.anchor));
  if (style.bold) body_ += " font-weight=\"bold\"";
  if (style.turn != 0)
    body_ += fmt::format(" transform=\"rotate({} {} {})\"", svg_number(style.turn), x, y);
  if (style.halo) body_ += " paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"3\"";
  body_ += fmt::format(">{}</text>\n", escaped(text));
}

}  // namespace cotillion
