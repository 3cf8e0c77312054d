#include "protocol/merge.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/check.hpp"

namespace cotillion {

Result<MergeSettings> checked(const MergeSettings& settings, bool everyone_in_every_round) {
  if (!(settings.own_weight >= 0 && settings.own_weight <= 1))
    return failure(fmt::format("own weight {}; between 0 and 1", settings.own_weight));
  if (!(settings.progress >= 0 && settings.progress <= 1))
    return failure(fmt::format("progress {}; between 0 and 1", settings.progress));
  if (settings.own_weight < 1 && (settings.progress < 1 || settings.momentum > 0))
    return failure(
        "own weight is a rule of its own: it goes without progress and momentum; leave one out");
  if (settings.progress < 1 && settings.momentum > 0 &&
      settings.momentum_at == MomentumAt::kReceiver)
    return failure(
        "progress goes with momentum at the sender, not at the receiver; leave at= or progress= "
        "out");
  if (!(settings.momentum >= 0 && settings.momentum < 1))
    return failure(
        fmt::format("momentum {}; from 0 to below 1, or updates never die out", settings.momentum));
  if (settings.momentum_at == MomentumAt::kReceiver && settings.momentum > 0 &&
      !everyone_in_every_round && !settings.momentum_only_with_everyone)
    return failure(fmt::format(
        "momentum {} at the receiver under rotating cliques does not converge: islands "
        "that meet hold different velocities, averages feed them back, and disagreement "
        "decays by {:.3f} a round at best, or grows; put momentum at the sender, or let "
        "it act only in rounds of everyone",
        settings.momentum, std::sqrt(settings.momentum)));
  return settings;
}

Merge::Merge(const JobSpec& job, const MergeSettings& settings) : settings_(settings) {
  const bool sender = has_momentum_at(settings, MomentumAt::kSender);
  const bool receiver = has_momentum_at(settings, MomentumAt::kReceiver);
  if (settings.own_weight < 1 || sender) hidden_.resize(job.elements);
  if (settings.own_weight < 1) late_.resize(job.elements);
  if (sender) anchor_.assign(job.elements, std::numeric_limits<float>::quiet_NaN());
  if (sender || receiver) velocity_.resize(job.elements);
  if (receiver) theta_.assign(job.elements, std::numeric_limits<float>::quiet_NaN());
}

void Merge::to_sent(std::uint64_t first, std::span<float> values, bool waits) {
  const CopyCoefficients rule = copy_coefficients(settings_, waits);
  const auto kept = float(rule.kept), momentum = float(rule.velocity);
  if (hidden_.empty() && kept == 1) return;
  if (hidden_.empty()) {
    for (float& value : values) value *= kept;
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t e = first + i;
    values[i] += hidden_[e];
    if (!late_.empty()) late_[e] = 0;
    if (anchor_.empty()) continue;
    if (!std::isnan(anchor_[e])) {
      const float increment = kept * (values[i] - anchor_[e]);
      velocity_[e] = momentum * velocity_[e] + increment;
      const float push = velocity_[e] - increment;
      values[i] = kept * values[i] + push;
      // Shown at the next merge; the running step is not disturbed.
      hidden_[e] = kept * hidden_[e] + push;
    }
    anchor_[e] = values[i];
  }
}

void Merge::apply(std::uint64_t first, std::span<float> x, std::span<const double> average,
                  std::span<const double> sent, const MergeSituation& situation) {
  COTILLION_CHECK(x.size() == average.size() && x.size() == sent.size());
  const MergeCoefficients rule = merge_coefficients(settings_, situation);
  if (rule.rests) return;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t e = first + i;
    double target = rule.average * average[i];
    if (rule.on_averages) {
      if (!std::isnan(theta_[e])) {
        velocity_[e] = float(rule.velocity * velocity_[e] + (target - theta_[e]));
        target = double(theta_[e]) + velocity_[e];
      }
      theta_[e] = float(target);
    }
    const double correction = target + rule.sent * sent[i];
    if (hidden_.empty()) {
      x[i] = float(rule.model * x[i] + correction);
      continue;
    }
    const double z = rule.model * x[i] + rule.hidden * hidden_[e];
    const double late = late_.empty() ? 0 : late_[e];
    hidden_[e] = float(rule.hides * (z - sent[i] - late));
    x[i] = float(z + correction - hidden_[e]);
    if (!anchor_.empty()) anchor_[e] = float(rule.hidden * anchor_[e] + correction);
  }
}

// Nothing that depends on the circumstances of the merge: they change what is multiplied with x, S
// and h, and all of these were merged then.
void Merge::apply_late(std::uint64_t first, std::span<float> x,
                       std::span<const double> difference) {
  const double share = merge_coefficients(settings_, {}).average;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double more = share * difference[i];
    x[i] = float(x[i] + more);
    if (!anchor_.empty()) anchor_[first + i] = float(anchor_[first + i] + more);
    if (!late_.empty()) late_[first + i] = float(late_[first + i] + more);
    if (theta_.empty()) continue;
    theta_[first + i] = float(theta_[first + i] + more);
    velocity_[first + i] = float(velocity_[first + i] + more);
  }
}

std::size_t Merge::bytes() const {
  std::size_t kept = 0;
  for (const auto* values : {&hidden_, &late_, &anchor_, &velocity_, &theta_})
    kept += values->size() * sizeof(float);
  return kept;
}

}  // namespace cotillion
