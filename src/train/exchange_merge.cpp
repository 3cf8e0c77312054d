#include "train/exchange_merge.hpp"

#include <algorithm>

#include "learn/plain_vectors.hpp"

namespace cotillion {

MergeSettings merge_settings_of(const Recipe& recipe) {
  MergeSettings settings;
  if (recipe.own_for_missing) settings.missing = Missing::kOwnForMissing;
  settings.progress = recipe.progress;
  settings.own_weight = recipe.own_weight;
  settings.momentum = recipe.momentum;
  settings.momentum_only_with_everyone = true;
  if (recipe.momentum > 0)
    settings.momentum_at = recipe.momentum_at_sender ? MomentumAt::kSender : MomentumAt::kReceiver;
  return settings;
}

ExchangeMerge::ExchangeMerge(const Recipe& recipe, const JobSpec& job)
    : wire_(recipe.wire), merge_(job, merge_settings_of(recipe)), copied_(job.elements) {}

float ExchangeMerge::sent(std::size_t element) const {
  const bool rounded = merge_.settings().momentum_at == MomentumAt::kReceiver;
  return rounded ? on_wire(copied_[element], wire_) : copied_[element];
}

void ExchangeMerge::to_laid(std::uint64_t first, std::span<float> values, bool ahead) {
  merge_.to_sent(first, values, ahead);
  if (!ahead) {
    std::copy(values.begin(), values.end(), copied_.begin() + std::ptrdiff_t(first));
    return;
  }
  // What is missing is average − p times that copy, and average − S comes. (What a wire rounds away
  // is in neither, and stays.)
  const double given_up = 1 - merge_.settings().progress;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = float(values[i] + given_up * copied_[first + i]);
  ahead_.resize(copied_.size());
  std::copy(values.begin(), values.end(), ahead_.begin() + std::ptrdiff_t(first));
}

void ExchangeMerge::apply(std::uint64_t first, std::span<float> x,
                          std::span<const float> correction, bool everyone, bool waited) {
  std::vector<double> average(x.size()), compared(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    compared[i] = sent(first + i);
    average[i] = double(correction[i]) + compared[i];
    if (waited) copied_[first + i] = ahead_[first + i] + correction[i];
  }
  merge_.apply(first, x, average, compared, everyone, waited);
}

void ExchangeMerge::apply_late(std::uint64_t first, std::span<float> x,
                               std::span<const float> difference) {
  merge_.apply_late(first, x, std::vector<double>(difference.begin(), difference.end()));
}

std::size_t ExchangeMerge::bytes() const {
  return merge_.bytes() + (copied_.size() + ahead_.size()) * sizeof(float);
}

}  // namespace cotillion
