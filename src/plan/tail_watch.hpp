// When a sum over endless periods may be closed. What islands disagree about falls by a constant
// factor per period in the end, so the rest of the sum is a geometric series; or it never falls at
// all, because the schedule leaves islands apart.
#pragma once

#include <cmath>

namespace cotillion {

inline constexpr double kTailError = 1e-13;     // relative error allowed when closing a tail
inline constexpr double kNoFall = 1e-12;        // a relative fall per period below this is none
inline constexpr int kPeriodsWithoutFall = 64;  // as many of these in a row: it never settles

// Watches the sums of successive periods until they fall by a constant factor, so that the rest is
// known to kTailError. Sums are in units in which the whole is about 1.
class TailWatch {
 public:
  // Takes the sum of the latest period, and the whole so far; true once the tail is known.
  bool settled_into(double period_sum, double area) {
    const double ratio = last_sum_ > 0 ? period_sum / last_sum_ : 0;
    const double fall = 1 - ratio;
    const double error = period_sum * std::fabs(ratio - ratio_) / (fall * fall);
    steady_ = last_sum_ > 0 && fall > kNoFall && error < kTailError * area ? steady_ + 1 : 0;
    stuck_ = last_sum_ > 0 && fall <= kNoFall ? stuck_ + 1 : 0;
    ratio_ = ratio;
    last_sum_ = period_sum;
    return steady_ >= 3 || period_sum < kTailError * 1e-3;
  }
  [[nodiscard]] double ratio() const { return ratio_; }
  [[nodiscard]] bool stuck() const { return stuck_ >= kPeriodsWithoutFall; }

 private:
  double last_sum_ = 0, ratio_ = 0;
  int steady_ = 0, stuck_ = 0;
};

}  // namespace cotillion
