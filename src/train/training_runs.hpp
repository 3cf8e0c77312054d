// Runs of one policy, whatever their seeds: what tables and figures show as one.
#pragma once

#include <cmath>
#include <vector>

#include "train/trainer.hpp"

namespace cotillion {

using Runs = std::vector<const Training*>;

// Best policy first. The trainings must outlive it.
[[nodiscard]] std::vector<Runs> by_policy(const std::vector<Training>& trainings);

// Infinite where there is none.
[[nodiscard]] double final_loss(const Training& training);
// Mean over the second half of a run, relative to the norm of the model. Where nothing was merged
// between two points, nobody looked how far islands were apart.
[[nodiscard]] double late_distance(const Training& training);

[[nodiscard]] double mean_of(const Runs& runs, const auto& field) {
  double sum = 0;
  for (const Training* run : runs) sum += field(*run);
  return sum / double(runs.size());
}

[[nodiscard]] double spread_of(const Runs& runs, const auto& field) {
  const double mean = mean_of(runs, field);
  double squares = 0;
  for (const Training* run : runs) squares += (field(*run) - mean) * (field(*run) - mean);
  return runs.size() < 2 ? 0 : std::sqrt(squares / double(runs.size() - 1));
}

}  // namespace cotillion
