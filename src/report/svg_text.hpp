// Where text can stand. A figure is drawn without a font at hand, so the width of a text is
// estimated from the letters of DejaVu Sans, and labels are placed by their boxes: the same
// placement on any machine, and one that a test can check.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/svg.hpp"

namespace cotillion {

// In pixels, at most a few per cent off for Latin text.
[[nodiscard]] double text_width(std::string_view text, double size, bool bold = false);

// The box of a text whose baseline begins, has its middle or ends at `at`.
[[nodiscard]] Box text_box(Point at, std::string_view text, double size,
                           Anchor anchor = Anchor::kStart);

// Lines no wider than `width`, broken between words.
[[nodiscard]] std::vector<std::string> text_lines(std::string_view text, double size, double width);

// The text, or as much of it as fits with an ellipsis.
[[nodiscard]] std::string fitted(std::string_view text, double size, double width);

[[nodiscard]] bool overlap(const Box& a, const Box& b);
[[nodiscard]] bool contains(const Box& outer, const Box& inner);
// Whether the segment touches the box.
[[nodiscard]] bool crosses(Point from, Point to, const Box& box);

struct PlacedLabel {
  Box box;
  Point baseline;       // where the text starts
  bool leader = false;  // so far from its mark that a line must join them
  Point leader_end;     // on the label's side
};

// Greedy: each label takes the nearest free place, once and for all.
class LabelPlacer {
 public:
  explicit LabelPlacer(const Box& area) : area_(area) {}

  // No label covers a mark or a box, nor one that was placed before.
  void keep_clear(const Box& box) { taken_.push_back(box); }
  void add_mark(Point at, double radius);

  // A place for `text` beside a mark of the given radius; nothing when `reach` pixels around hold
  // none. At first only places that no other mark could claim: a name between two marks is a
  // riddle. Leaders stay clear of labels, marks and each other.
  [[nodiscard]] std::optional<PlacedLabel> beside(Point mark, double radius, std::string_view text,
                                                  double size, double reach);

  [[nodiscard]] bool is_free(const Box& box) const;

 private:
  struct Segment {
    Point from, to;
  };
  [[nodiscard]] bool may_lead(Point mark, Point to) const;
  [[nodiscard]] bool is_claimed(const Box& box, Point mark) const;
  std::optional<PlacedLabel> beside_within(Point mark, double radius, std::string_view text,
                                           double size, double reach, bool unclaimed);

  Box area_;
  std::vector<Box> taken_;
  std::vector<Box> marks_;
  std::vector<Segment> leaders_;
};

}  // namespace cotillion
