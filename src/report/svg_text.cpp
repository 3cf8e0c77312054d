#include "report/svg_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cotillion {
namespace {

// Advances of ' ' to '~' in hundredths of the font size.
constexpr std::array<unsigned char, 95> kAdvance = {
    32, 40, 46, 84, 64, 95, 78, 28, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 78, 75, 30, 30, 66, 56, 86, 75, 79,
    60, 79, 70, 64, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 64, 55, 64, 62, 35, 64,
    63, 28, 28, 58, 28, 97, 63, 61, 64,  64, 41, 52, 39, 63, 59, 82, 59, 59, 53, 64, 34, 64, 84};
constexpr double kOtherTwoBytes = 65;  // accented Latin, Greek, Cyrillic
constexpr double kOtherWide = 85;      // arrows, signs
constexpr double kOtherFourBytes = 100;
constexpr double kBoldFactor = 1.11;
// Above and below the baseline, in parts of the font size.
constexpr double kAscent = 0.78, kDescent = 0.24;
constexpr double kLabelGap = 3;  // between a mark and its label
constexpr double kClaim = 10;    // a mark this near to a label seems to own it

// Where a label may lie: the way from its mark to the nearest point of its box, and where in the
// box that point is, in parts of width and height.
struct Way {
  Point to;
  Point hold;
};
// Touching its mark: right, left, above, below, corners.
constexpr std::array<Way, 8> kTouching = {{{{1, 0}, {0, 0.5}},
                                           {{-1, 0}, {1, 0.5}},
                                           {{0, -1}, {0.5, 1}},
                                           {{0, 1}, {0.5, 0}},
                                           {{0.7, -0.7}, {0, 1}},
                                           {{0.7, 0.7}, {0, 0}},
                                           {{-0.7, -0.7}, {1, 1}},
                                           {{-0.7, 0.7}, {1, 0}}}};
// At the end of a leader. Those that hang by their first letter come first, at any distance: they
// leave the columns of all marks further left free, so that a row finds room from right to left.
constexpr std::array<Way, 6> kHanging = {{{{0, 1}, {0, 0}},
                                          {{0, -1}, {0, 1}},
                                          {{0.38, 0.92}, {0, 0}},
                                          {{0.38, -0.92}, {0, 1}},
                                          {{0.7, 0.7}, {0, 0}},
                                          {{0.7, -0.7}, {0, 1}}}};
constexpr std::array<Way, 6> kOtherwise = {{{{1, 0}, {0, 0.5}},
                                            {{-1, 0}, {1, 0.5}},
                                            {{0, 1}, {0.5, 0}},
                                            {{0, -1}, {0.5, 1}},
                                            {{-0.7, 0.7}, {1, 0}},
                                            {{-0.7, -0.7}, {1, 1}}}};

bool holds(const Box& box, Point point) {
  return point.x >= box.x && point.x <= box.right() && point.y >= box.y && point.y <= box.bottom();
}

// Whether two segments cross: the ends of each lie on both sides of the other.
bool meet(Point a, Point b, Point c, Point d) {
  const auto side = [](Point p, Point q, Point r) {
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
  };
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

double text_width(std::string_view text, double size, bool bold) {
  double hundredths = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte <= '~')
      hundredths += kAdvance[byte - ' '];
    else if (byte < 0x80)
      hundredths += kAdvance['?' - ' '];
    else if (!is_continuation(c))
      hundredths += byte >= 0xf0 ? kOtherFourBytes : byte >= 0xe0 ? kOtherWide : kOtherTwoBytes;
  }
  return hundredths * size / 100 * (bold ? kBoldFactor : 1);
}

Box text_box(Point at, std::string_view text, double size, Anchor anchor) {
  const double width = text_width(text, size);
  const double left = anchor == Anchor::kStart    ? at.x
                      : anchor == Anchor::kMiddle ? at.x - width / 2
                                                  : at.x - width;
  return {left, at.y - kAscent * size, width, (kAscent + kDescent) * size};
}

std::vector<std::string> text_lines(std::string_view text, double size, double width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string word(text.substr(0, space));
    if (!line.empty() &&
        text_width(line, size) + text_width(" ", size) + text_width(word, size) > width) {
      lines.push_back(line);
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string fitted(std::string_view text, double size, double width) {
  if (text_width(text, size) <= width) return std::string(text);
  while (!text.empty() && text_width(text, size) + size > width) {
    while (text.size() > 1 && is_continuation(text.back())) text.remove_suffix(1);
    text.remove_suffix(1);  // the lead byte: whole characters only
  }
  return std::string(text) + "…";
}

bool overlap(const Box& a, const Box& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

bool contains(const Box& outer, const Box& inner) {
  return inner.x >= outer.x && inner.right() <= outer.right() && inner.y >= outer.y &&
         inner.bottom() <= outer.bottom();
}

// Cuts the segment by each side of the box; something is left if they touch.
bool crosses(Point from, Point to, const Box& box) {
  double enter = 0, leave = 1;
  const auto cut = [&](double start, double step, double least, double most) {
    if (step == 0) return start > least && start < most;
    const double one = (least - start) / step, other = (most - start) / step;
    enter = std::max(enter, std::min(one, other));
    leave = std::min(leave, std::max(one, other));
    return enter < leave;
  };
  return cut(from.x, to.x - from.x, box.x, box.right()) &&
         cut(from.y, to.y - from.y, box.y, box.bottom());
}

void LabelPlacer::add_mark(Point at, double radius) {
  marks_.push_back({at.x - radius, at.y - radius, 2 * radius, 2 * radius});
}

bool LabelPlacer::is_free(const Box& box) const {
  const auto over = [&](const Box& other) { return overlap(box, other); };
  return contains(area_, box) && std::none_of(taken_.begin(), taken_.end(), over) &&
         std::none_of(marks_.begin(), marks_.end(), over) &&
         std::none_of(leaders_.begin(), leaders_.end(),
                      [&](const Segment& leader) { return crosses(leader.from, leader.to, box); });
}

bool LabelPlacer::may_lead(Point mark, Point to) const {
  const auto in_the_way = [&](const Box& other) {
    return !holds(other, mark) && crosses(mark, to, other);
  };
  return std::none_of(taken_.begin(), taken_.end(), in_the_way) &&
         std::none_of(marks_.begin(), marks_.end(), in_the_way) &&
         std::none_of(leaders_.begin(), leaders_.end(),
                      [&](const Segment& other) { return meet(mark, to, other.from, other.to); });
}

bool LabelPlacer::is_claimed(const Box& box, Point mark) const {
  const Box around{box.x - kClaim, box.y - kClaim, box.width + 2 * kClaim, box.height + 2 * kClaim};
  return std::any_of(marks_.begin(), marks_.end(), [&](const Box& other) {
    return !holds(other, mark) && overlap(around, other);
  });
}

std::optional<PlacedLabel> LabelPlacer::beside(Point mark, double radius, std::string_view text,
                                               double size, double reach) {
  auto placed = beside_within(mark, radius, text, size, reach, true);
  return placed ? placed : beside_within(mark, radius, text, size, reach, false);
}

std::optional<PlacedLabel> LabelPlacer::beside_within(Point mark, double radius,
                                                      std::string_view text, double size,
                                                      double reach, bool unclaimed) {
  constexpr double kStep = 9;
  const double width = text_width(text, size), height = (kAscent + kDescent) * size;
  const auto lay = [&](const Way& way, double away) -> std::optional<PlacedLabel> {
    const double distance = radius + kLabelGap + away;
    const Point near{mark.x + way.to.x * distance, mark.y + way.to.y * distance};
    const Box box{near.x - width * way.hold.x, near.y - height * way.hold.y, width, height};
    const bool leader = away > 0;
    if (!is_free(box) || (unclaimed && is_claimed(box, mark)) || (leader && !may_lead(mark, near)))
      return std::nullopt;
    keep_clear(box);
    if (leader) leaders_.push_back({mark, near});
    return PlacedLabel{box, {box.x, box.y + kAscent * size}, leader, near};
  };
  for (const Way& way : kTouching)
    if (auto placed = lay(way, 0)) return placed;
  for (const auto* ways : {&kHanging, &kOtherwise})
    for (double away = kStep; away <= reach; away += kStep)
      for (const Way& way : *ways)
        if (auto placed = lay(way, away)) return placed;
  return std::nullopt;
}

}  // namespace cotillion
