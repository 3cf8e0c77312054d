#include "train/exchange_merge.hpp"

#include <algorithm>

#include "learn/plain_vectors.hpp"

namespace cotillion {

ExchangeMerge::ExchangeMerge(const RotationRecipe& recipe, const JobSpec& job)
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
  // c is to be added, and A − S comes. (What a wire rounds away is in neither, and stays.)
  const double of_copy = merge_coefficients(merge_.settings(), {}).of_copy_beside_difference();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = float(values[i] + of_copy * copied_[first + i]);
  ahead_.resize(copied_.size());
  std::copy(values.begin(), values.end(), ahead_.begin() + std::ptrdiff_t(first));
}

void ExchangeMerge::apply(std::uint64_t first, std::span<float> x,
                          std::span<const float> correction, const MergeSituation& situation) {
  // Nobody was heard: what has come is late sums of earlier rounds, if anything.
  if (merge_coefficients(merge_.settings(), situation).rests)
    return apply_late(first, x, correction);
  std::vector<double> average(x.size()), compared(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    compared[i] = sent(first + i);
    average[i] = double(correction[i]) + compared[i];
    if (situation.waited) copied_[first + i] = ahead_[first + i] + correction[i];
  }
  merge_.apply(first, x, average, compared, situation);
}

void ExchangeMerge::apply_late(std::uint64_t first, std::span<float> x,
                               std::span<const float> difference) {
  merge_.apply_late(first, x, std::vector<double>(difference.begin(), difference.end()));
}

std::size_t ExchangeMerge::bytes() const {
  return merge_.bytes() + (copied_.size() + ahead_.size()) * sizeof(float);
}

}  // namespace cotillion
