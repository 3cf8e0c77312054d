// Runs of one policy, whatever their seeds: what tables and figures show as one.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "train/trainer.hpp"

namespace cotillion {

using Runs = std::vector<const Training*>;

// Runs that can be compared: the same model, text, step time and limits, in the order in which they
// were met.
[[nodiscard]] std::vector<std::vector<Training>> by_setting(const std::vector<Training>& trainings);

// What tells each of them from the others, as words: "steps of 30.9 ms, text by source". Of a
// single one there is nothing to say.
[[nodiscard]] std::vector<std::string> words_for(
    const std::vector<std::vector<Training>>& settings);

// Best policy first; runs of other settings are another policy's. The trainings must outlive it.
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
