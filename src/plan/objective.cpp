#include "plan/objective.hpp"

#include <limits>

#include "base/check.hpp"

namespace cotillion {

std::string_view to_name(Objective objective) {
  switch (objective) {
    case Objective::kPaper:
      return "paper";
    case Objective::kSquared:
      return "squared";
    case Objective::kPaperStreamed:
      return "paper-streamed";
    case Objective::kSquaredStreamed:
      return "squared-streamed";
  }
  COTILLION_CHECK(false);
  return "";
}

std::optional<Objective> objective_named(std::string_view name) {
  for (const Objective objective : kObjectives)
    if (to_name(objective) == name) return objective;
  return std::nullopt;
}

RealDuration staleness(Objective objective, const Mixing& mixing,
                       const std::vector<RealDuration>& lengths, RealDuration streamed_delay) {
  return staleness(objective, mixing, lengths,
                   std::vector<RealDuration>(lengths.size(), streamed_delay));
}

RealDuration staleness(Objective objective, const Mixing& mixing,
                       const std::vector<RealDuration>& lengths,
                       const std::vector<RealDuration>& streamed_delays) {
  if (mixing.phases.empty()) return RealDuration::from_ps(std::numeric_limits<double>::infinity());
  COTILLION_CHECK(mixing.phases.size() == lengths.size());
  COTILLION_CHECK(streamed_delays.size() == lengths.size());
  const bool squared = objective == Objective::kSquared || objective == Objective::kSquaredStreamed;
  const bool streamed =
      objective == Objective::kPaperStreamed || objective == Objective::kSquaredStreamed;

  double period = 0;
  // How long what a round left is held: through the next round; streamed, from this round's merges
  // to the next one's.
  std::vector<double> held;
  for (std::size_t p = 0; p < lengths.size(); ++p) {
    period += lengths[p].ps;
    const double later = streamed_delays[(p + 1) % lengths.size()].ps - streamed_delays[p].ps;
    held.push_back(streamed ? lengths[p].ps + later : lengths[p].ps);
  }
  if (period == 0) return {};
  double total = 0;
  for (std::size_t p = 0; p < lengths.size(); ++p) {
    const PhaseCurves& curves = mixing.phases[p];
    const SurvivalCurve& curve = squared ? curves.squared : curves.absolute;
    double age = lengths[p].ps / 2 + weighted_area(curve, int(p), held, streamed ? 0 : 1);
    // What is new is held whole until it merges.
    if (streamed && !curve.values.empty())
      age += streamed_delays[(p + 1) % lengths.size()].ps - held[p];
    total += lengths[p].ps * age;
  }
  return RealDuration::from_ps(total / period);
}

RealDuration staleness_of_equal_rounds(Objective objective, RealDuration length, double area,
                                       RealDuration streamed_delay) {
  const bool streamed =
      objective == Objective::kPaperStreamed || objective == Objective::kSquaredStreamed;
  return streamed ? length * (area - 0.5) + streamed_delay : length * (area + 0.5);
}

}  // namespace cotillion
