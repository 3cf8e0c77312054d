// How well a schedule mixes: the paper's survival curves and the area under them.
//
// Legend (the paper's symbols): N islands, W(k) mixing matrix of round k (Equation
// blockmatrix), Φ_s(h) = W(s+h)…W(s+1) (Equation transitionmatrix), e_s(h) the disagreement
// that survives h rounds after birth (Equation survival), P period, A the mean over phases of
// the area under e (Equation perioda). A generation born in phase p first meets the round
// after it. The squared curve is ‖Φ − J‖²/(N−1), for increments that add in quadrature.
#pragma once

#include <optional>
#include <vector>

#include "plan/schedule.hpp"

namespace cotillion {

// What generations are mixed towards, and how fast they are forgotten. The core model is
// uniform and forgets nothing.
struct MixingAim {
  std::vector<double> target;  // π, one weight per island; empty: 1/N each
  double discount = 1;         // ρ: what remains of a generation's effect after each round
};

// e(0), e(1), … of generations born in one phase. `values` are computed; beyond them the
// curve repeats its last period, each time multiplied by `tail` (0 when it has settled).
struct SurvivalCurve {
  std::vector<double> values;
  double tail = 0;
};

struct PhaseCurves {
  SurvivalCurve absolute;  // the paper's
  SurvivalCurve squared;
  double decay = 0;  // the factor per round by which the absolute one falls in the end
};

struct Mixing {
  std::vector<PhaseCurves> phases;   // by phase of birth; empty when islands never connect
  double area = 0;                   // A; infinite when islands never connect
  double area_squared = 0;           // A₂
  bool approximate = false;          // the decay was too slow to follow to the end
  std::optional<int> settles_after;  // rounds until Φ = J from the slowest phase, if ever exactly
  double decay = 0;                  // otherwise the factor per round by which e falls in the end
};

[[nodiscard]] Mixing mix(const Schedule& schedule, int island_count, const MixingAim& aim = {});

// e(h) for any h ≥ 0, also beyond the computed values.
[[nodiscard]] double survival_at(const SurvivalCurve& curve, int h, int period);

// Σ_h e(h)·duration of the round in which it is held, for a curve born in `phase`: round
// phase+lag+h of the period. Whole snapshots merge when a round ends, so what a round left is held
// through the next one, a lag of 1; fragments that merge as they arrive have a lag of 0. With all
// durations 1 it is the area under the curve.
[[nodiscard]] double weighted_area(const SurvivalCurve& curve, int phase,
                                   const std::vector<double>& durations, int lag = 1);

}  // namespace cotillion
