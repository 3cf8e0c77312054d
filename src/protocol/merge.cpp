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
  const bool sender = settings.momentum_at == MomentumAt::kSender && settings.momentum > 0;
  const bool receiver = settings.momentum_at == MomentumAt::kReceiver && settings.momentum > 0;
  if (settings.own_weight < 1 || sender) hidden_.resize(job.elements);
  if (settings.own_weight < 1) late_.resize(job.elements);
  if (sender) anchor_.assign(job.elements, std::numeric_limits<float>::quiet_NaN());
  if (sender || receiver) velocity_.resize(job.elements);
  if (receiver) theta_.assign(job.elements, std::numeric_limits<float>::quiet_NaN());
}

void Merge::to_sent(std::uint64_t first, std::span<float> values, bool waits) {
  if (hidden_.empty()) return;
  const auto kept = float(waits ? settings_.progress : 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t e = first + i;
    values[i] += hidden_[e];
    if (!late_.empty()) late_[e] = 0;
    if (anchor_.empty()) continue;
    if (!std::isnan(anchor_[e])) {
      const float increment = kept * (values[i] - anchor_[e]);
      velocity_[e] = float(settings_.momentum) * velocity_[e] + increment;
      const float push = velocity_[e] - increment;
      values[i] = kept * values[i] + push;
      // Shown at the next merge; the running step is not disturbed.
      hidden_[e] = kept * hidden_[e] + push;
    }
    anchor_[e] = values[i];
  }
}

void Merge::apply(std::uint64_t first, std::span<float> x, std::span<const double> average,
                  std::span<const double> sent, bool everyone, bool waited) {
  COTILLION_CHECK(x.size() == average.size() && x.size() == sent.size());
  const bool outer = !theta_.empty() && everyone;
  const double p = settings_.progress;
  const double of_hidden = waited ? 1 : p;  // to_sent has scaled it then
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t e = first + i;
    double target = average[i];
    if (outer) {
      if (!std::isnan(theta_[e])) {
        velocity_[e] = float(settings_.momentum * velocity_[e] + (average[i] - theta_[e]));
        target = double(theta_[e]) + velocity_[e];
      }
      theta_[e] = float(target);
    }
    if (hidden_.empty()) {
      x[i] = float(p * x[i] + (target - p * sent[i]));
      continue;
    }
    const double correction = target - p * sent[i];
    const double z = p * x[i] + of_hidden * hidden_[e];
    const double late = late_.empty() ? 0 : late_[e];
    hidden_[e] = float((1 - settings_.own_weight) * (z - sent[i] - late));
    x[i] = float(z + correction - hidden_[e]);
    if (!anchor_.empty()) anchor_[e] = float(of_hidden * anchor_[e] + correction);
  }
}

void Merge::apply_late(std::uint64_t first, std::span<float> x,
                       std::span<const double> difference) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = float(x[i] + difference[i]);
    if (!anchor_.empty()) anchor_[first + i] = float(anchor_[first + i] + difference[i]);
    if (!late_.empty()) late_[first + i] = float(late_[first + i] + difference[i]);
    if (theta_.empty()) continue;
    theta_[first + i] = float(theta_[first + i] + difference[i]);
    velocity_[first + i] = float(velocity_[first + i] + difference[i]);
  }
}

std::size_t Merge::bytes() const {
  std::size_t kept = 0;
  for (const auto* values : {&hidden_, &late_, &anchor_, &velocity_, &theta_})
    kept += values->size() * sizeof(float);
  return kept;
}

}  // namespace cotillion
