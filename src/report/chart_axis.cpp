#include "report/chart_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr double kLogLeast = 1e-30;  // below it a logarithmic axis would be all empty decades

// 10^n by multiplication: pow may differ in its last bit between machines.
double power_of_ten(int exponent) {
  double power = 1;
  for (int i = 0; i < std::abs(exponent); ++i) power *= 10;
  return exponent < 0 ? 1 / power : power;
}

// The largest n with 10^n ≤ value, and rounding forgiven.
int decade_of(double value) {
  int exponent = int(std::floor(std::log10(value)));
  if (power_of_ten(exponent + 1) <= value * (1 + 1e-12)) ++exponent;
  return exponent;
}

std::string group_digits(std::string digits) {
  const std::size_t start = digits.starts_with('-') ? 1 : 0;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  if (point - start < 5) return digits;
  for (std::size_t at = point; at > start + 3;) {
    at -= 3;
    digits.insert(at, "\u202f");  // a narrow space that does not break
  }
  return digits;
}

}  // namespace

bool is_drawable(double value, bool logarithmic) {
  return std::isfinite(value) && std::fabs(value) <= kDrawableMost &&
         (!logarithmic || value >= kLogLeast);
}

double tick_step(double span, int wanted) {
  COTILLION_CHECK(span > 0 && wanted >= 1);
  const double rough = span / wanted;
  const double power = power_of_ten(decade_of(rough));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string tick_label(double value, double step) {
  if (std::fabs(value) < step * 1e-6) return "0";
  if (std::fabs(value) >= 1e7 || step < 1e-5) return fmt::format("{:.3g}", value);
  return group_digits(fmt::format("{:.{}f}", value, std::max(0, -decade_of(step))));
}

Axis::Axis(const std::vector<double>& values, bool from_zero, bool logarithmic)
    : logarithmic_(logarithmic) {
  bool any = false;
  for (const double value : values) {
    if (!is_drawable(value, logarithmic)) continue;
    least_ = any ? std::min(least_, value) : value;
    most_ = any ? std::max(most_, value) : value;
    any = true;
  }
  if (!any) {
    least_ = logarithmic ? 1 : 0;
    most_ = logarithmic ? 10 : 1;
  }
  if (logarithmic) {
    if (most_ / least_ < 2) {
      least_ /= 2;
      most_ *= 2;
    }
    return;
  }
  if (from_zero) {
    least_ = std::min(least_, 0.0);
    most_ = std::max(most_, 0.0);
  }
  // A range of nothing, or one that doubles cannot divide, is widened.
  const double size = std::max(std::fabs(least_), std::fabs(most_));
  if (most_ - least_ <= size * 1e-9) {
    const double room = size > 0 ? size / 10 : 1;
    if (!from_zero || least_ != 0) least_ -= room;
    most_ += room;
  }
}

void Axis::place(double first_pixel, double last_pixel) {
  first_ = first_pixel;
  last_ = last_pixel;
}

double Axis::along(double value) const {
  if (logarithmic_)
    return (std::log10(value) - std::log10(least_)) / (std::log10(most_) - std::log10(least_));
  return (value - least_) / (most_ - least_);
}

double Axis::pixel(double value) const {
  COTILLION_CHECK(is_drawable(value, logarithmic_));
  return first_ + along(value) * (last_ - first_);
}

void Axis::round_up(int wanted) {
  if (logarithmic_) return;
  const double step = tick_step(most_ - least_, wanted);
  most_ = std::ceil(most_ / step - 1e-9) * step;
}

std::vector<Tick> Axis::ticks(int wanted) const {
  std::vector<Tick> ticks;
  if (!logarithmic_) {
    const double step = tick_step(most_ - least_, wanted);
    const double slack = step * 1e-9;
    for (double n = std::ceil((least_ - slack) / step); n * step <= most_ + slack; ++n)
      ticks.push_back({n * step, tick_label(n * step, step)});
    return ticks;
  }
  // 1-2-5 while they are few, then powers of ten, then every so many of those.
  const int first = decade_of(least_), last = decade_of(most_);
  const int decades = last - first + 1;
  const int stride = std::max(1, decades / wanted);
  for (int decade = first; decade <= last; decade += stride)
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && 2 * decades > wanted) break;
      const double value = factor * power_of_ten(decade);
      if (value >= least_ * (1 - 1e-9) && value <= most_ * (1 + 1e-9))
        ticks.push_back({value, tick_label(value, value)});
    }
  return ticks;
}

}  // namespace cotillion
