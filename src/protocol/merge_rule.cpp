#include "protocol/merge_rule.hpp"

namespace cotillion {

MergeCoefficients merge_coefficients(const MergeSettings& settings,
                                     const MergeSituation& situation) {
  const double p = settings.progress;
  // A copy that has left meanwhile holds what this correction would have given up.
  if (situation.alone && !situation.waited && p < 1)
    return {.rests = true, .average = 0, .sent = 0};
  return {.average = 1,
          .sent = -p,
          .model = p,
          .hidden = situation.waited ? 1 : p,
          .hides = 1 - settings.own_weight,
          .shows = settings.own_weight,
          .on_averages = has_momentum_at(settings, MomentumAt::kReceiver) && situation.everyone,
          .velocity = settings.momentum};
}

CopyCoefficients copy_coefficients(const MergeSettings& settings, bool waits) {
  return {waits ? settings.progress : 1,
          has_momentum_at(settings, MomentumAt::kSender) ? settings.momentum : 0};
}

}  // namespace cotillion
