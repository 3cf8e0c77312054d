#include "search/survival_tail.hpp"

#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr double kSettled = 1e-13;  // of e: rounding, nothing else is left
// How far the last change of the factor may move the area, relative, when a tail is closed.
constexpr double kLastChange[] = {1e-11, 3e-5};
constexpr double kFalls = 1 - 1e-12;  // a factor above this is none: it never settles

}  // namespace

TailState SurvivalTail::follow(const std::vector<double>& sums, double total) {
  const int p = period_, age = int(sums.size()) - 1;
  COTILLION_CHECK(age >= p);
  rest_ = 0;
  if (sums.back() < kSettled * p) return TailState::kSettled;
  if (age < 3 * p - 1) return TailState::kUnknown;
  // The last two periods say how fast it falls.
  double recent = 0, before = 0;
  for (int k = 0; k < p; ++k) {
    recent += sums[std::size_t(age - k)];
    before += sums[std::size_t(age - k - p)];
  }
  const double ratio = recent / before;
  rest_ = recent * ratio / (1 - ratio);
  const double change = recent * std::fabs(ratio - ratio_) / ((1 - ratio) * (1 - ratio));
  ratio_ = ratio;
  const bool falls = ratio < kFalls;
  // Two may agree by chance while slower modes still come up.
  agreed_ = falls && change < kLastChange[int(care_)] * total ? agreed_ + 1 : 0;
  if (agreed_ > (care_ == TailCare::kProof ? p + 1 : 2)) return TailState::kClosed;
  return falls ? TailState::kFalling : TailState::kStuck;
}

}  // namespace cotillion
