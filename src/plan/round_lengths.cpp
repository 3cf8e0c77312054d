// J·ΣT is quadratic in the length of any one round, so along one coordinate J is (a t² + b t + c) /
// (t + s), whose least point is known in closed form. Rounds take turns until none gains.
#include "plan/round_lengths.hpp"

#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr int kTurnsMost = 200;
constexpr double kLengthGain = 1e-13;  // relative; less is rounding

double sum_of(const std::vector<RealDuration>& lengths) {
  double sum = 0;
  for (const RealDuration length : lengths) sum += length.ps;
  return sum;
}

}  // namespace

std::vector<RealDuration> best_lengths(Objective objective, const Mixing& mixing,
                                       std::vector<RealDuration> least,
                                       const std::vector<RealDuration>& delays) {
  std::vector<RealDuration> lengths = least;
  const double scale = sum_of(least) / double(least.size());
  if (!(scale > 0) || mixing.phases.empty()) return lengths;
  const auto value = [&] { return staleness(objective, mixing, lengths, delays).ps; };
  double known = value();
  bool gained = true;
  for (int turn = 0; gained && turn < kTurnsMost; ++turn) {
    gained = false;
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      const RealDuration before = lengths[r];
      const double others = sum_of(lengths) - before.ps;
      // Three points of the quadratic J·ΣT, at 0, 1 and 2 scales.
      double q[3];
      for (int k = 0; k < 3; ++k) {
        lengths[r] = RealDuration::from_ps(k * scale);
        q[k] = others + k * scale > 0 ? value() / scale * (others / scale + k) : 0;
      }
      const double a = (q[2] - 2 * q[1] + q[0]) / 2, b = q[1] - q[0] - a, c = q[0];
      const double s = others / scale;
      lengths[r] = before;
      if (!(a > 0)) continue;
      const double root = s * s - (b * s - c) / a;
      const double best = root > 0 ? (std::sqrt(root) - s) * scale : 0;
      lengths[r] = std::max(least[r], RealDuration::from_ps(best));
      const double now = value();
      if (now < known * (1 - kLengthGain)) {
        known = now;
        gained = true;
      } else {
        lengths[r] = before;
      }
    }
  }
  for (std::size_t r = 0; r < lengths.size(); ++r) COTILLION_CHECK(lengths[r] >= least[r]);
  return lengths;
}

}  // namespace cotillion
