// The tail of the survival curves: how far they are followed before the rest is closed as a
// geometric series, and with what error. In the end e falls by one factor from each period to the
// next. The rule looks at how far the last change of that factor moves the area.
//
// That is an estimate, not a bound. While slower modes come up, the factor creeps on in the same
// direction, and what is still to come is a multiple of its last change: the more, the longer the
// second mode lives, which is about as many rounds as the area has. So what is promised of an area
// that is closed for a search grows with the area (search_error).
#pragma once

#include <vector>

namespace cotillion {

// To the last digit, or as well as an annealer needs.
enum class TailCare { kProof, kSearch };

enum class TailState {
  kUnknown,  // the curves are too short to say anything
  kStuck,    // nothing was lost from one period to the next
  kFalling,  // the rest is an estimate that still moves
  kClosed,   // the rest is known as well as it was asked for
  kSettled,  // nothing is left
};

class SurvivalTail {
 public:
  // The promises, relative to the area. A proof's is only rounding. A search's was worst at 12.5
  // times the change that closes a tail, for each round of the area, among 130,000 random and
  // annealed schedules of 2 to 100 islands with areas up to 150 (half of them: 0.2 times or less).
  static constexpr double kProofError = 1e-9;
  [[nodiscard]] static constexpr double search_error(double area) { return 5e-4 * area; }

  SurvivalTail(TailCare care, int period) : care_(care), period_(period) {}

  // Looks at curves that have become one round longer: the sums of e over all phases, by age, and
  // what they add up to. Call it for every age from a period on.
  TailState follow(const std::vector<double>& sums, double total);
  // Of what `follow` last saw: what lies beyond, summed over all phases.
  [[nodiscard]] double rest() const { return rest_; }

 private:
  TailCare care_;
  int period_;
  double rest_ = 0;
  double ratio_ = 0;  // of the last two periods
  int agreed_ = 0;    // ages in a row at which the ratio was the same
};

}  // namespace cotillion
