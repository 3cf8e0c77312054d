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
  if (mixing.phases.empty()) return RealDuration::from_ps(std::numeric_limits<double>::infinity());
  COTILLION_CHECK(mixing.phases.size() == lengths.size());
  const bool squared = objective == Objective::kSquared || objective == Objective::kSquaredStreamed;
  const bool streamed =
      objective == Objective::kPaperStreamed || objective == Objective::kSquaredStreamed;

  std::vector<double> durations;
  double period = 0;
  for (const RealDuration length : lengths) {
    durations.push_back(length.ps);
    period += length.ps;
  }
  if (period == 0) return {};
  double total = 0;
  for (std::size_t p = 0; p < lengths.size(); ++p) {
    const PhaseCurves& curves = mixing.phases[p];
    const SurvivalCurve& curve = squared ? curves.squared : curves.absolute;
    double age = durations[p] / 2 + weighted_area(curve, int(p), durations);
    if (streamed && !curve.values.empty())
      age += streamed_delay.ps - durations[(p + 1) % durations.size()];
    total += durations[p] * age;
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
