// An axis: which numbers are drawn, where, and with which ticks. Ticks are multiples of 1, 2 or 5
// times a power of ten, because readers interpolate between those without thinking.
#pragma once

#include <string>
#include <vector>

namespace cotillion {

// Larger numbers are no measurements; they are left out like infinite ones.
inline constexpr double kDrawableMost = 1e100;

// Whether an axis can show the value: finite, of sane size, positive where it is logarithmic.
[[nodiscard]] bool is_drawable(double value, bool logarithmic);

struct Tick {
  double value = 0;
  std::string label;
};

class Axis {
 public:
  // Covers all drawable values, and zero where asked for. Without values: 0 to 1.
  Axis(const std::vector<double>& values, bool from_zero, bool logarithmic);

  // Shows the range between two pixels, from the least value to the greatest.
  void place(double first_pixel, double last_pixel);
  // Requires a drawable value.
  [[nodiscard]] double pixel(double value) const;

  // About `wanted` of them within the range.
  [[nodiscard]] std::vector<Tick> ticks(int wanted) const;

  // Moves the end up to the next tick, so that lines have room to be read at.
  void round_up(int wanted);

  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double most() const { return most_; }

 private:
  [[nodiscard]] double along(double value) const;
  double least_ = 0, most_ = 1;
  bool logarithmic_;
  double first_ = 0, last_ = 1;
};

// The step of 1, 2 or 5 times a power of ten that divides `span` into about `wanted` parts.
[[nodiscard]] double tick_step(double span, int wanted);

// With as many decimals as steps of this size need; digits in threes from five on: "12 000".
[[nodiscard]] std::string tick_label(double value, double step);

}  // namespace cotillion
