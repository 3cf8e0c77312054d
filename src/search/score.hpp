// The objective during a search, from prices and mixing: what make_plan will say of a schedule.
#pragma once

#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "search/grouping.hpp"

namespace cotillion {

// How prices and mixing combine into the objective, for rounds of equal length.
class Score {
 public:
  // With `within` the least area within a length is sought: rounds that are shorter count as that
  // long, and rounds that are longer count far more than they are.
  Score(const NetworkModel& network, PlanSettings settings, double within = 0)
      : network_(network), settings_(std::move(settings)), within_(within) {}

  // Of rounds of this price; who is in them matters only under an egress cap.
  [[nodiscard]] double length(double round_ps, const std::vector<const Grouping*>& rounds) const;
  [[nodiscard]] double value(double length_ps, double delay_ps, double area) const {
    return staleness_of_equal_rounds(settings_.objective, RealDuration::from_ps(length_ps), area,
                                     RealDuration::from_ps(delay_ps))
        .ps;
  }
  // The area at which the value reaches `value`; below zero when no area is small enough.
  [[nodiscard]] double area_at(double value, double length_ps, double delay_ps) const {
    if (length_ps <= 0) return 0;
    return streamed() ? (value - delay_ps) / length_ps + 0.5 : value / length_ps - 0.5;
  }
  // The length at which the value reaches `value` for an area of at least `area_least`.
  [[nodiscard]] double length_at(double value, double area_least) const {
    return streamed() ? value / (area_least - 0.5) : value / (area_least + 0.5);
  }
  [[nodiscard]] bool squared() const {
    return settings_.objective == Objective::kSquared ||
           settings_.objective == Objective::kSquaredStreamed;
  }
  [[nodiscard]] bool streamed() const {
    return settings_.objective == Objective::kPaperStreamed ||
           settings_.objective == Objective::kSquaredStreamed;
  }
  [[nodiscard]] bool capped() const { return !settings_.egress_most.empty(); }
  [[nodiscard]] const PlanSettings& settings() const { return settings_; }

 private:
  const NetworkModel& network_;
  PlanSettings settings_;
  static constexpr int kSteepness = 8;
  double within_;
};

}  // namespace cotillion
