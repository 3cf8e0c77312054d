// The merge rule applied to floats, chunk by chunk and element by element, with what its
// refinements keep for each. The rule itself is `protocol/merge_rule`.
#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "protocol/job.hpp"
#include "protocol/merge_rule.hpp"

namespace cotillion {

// Settings that converge under a schedule in which everyone meets in every round, or not; the
// reason otherwise.
[[nodiscard]] Result<MergeSettings> checked(const MergeSettings& settings,
                                            bool everyone_in_every_round);

class Merge {
 public:
  Merge(const JobSpec& job, const MergeSettings& settings);

  [[nodiscard]] const MergeSettings& settings() const { return settings_; }

  // x as the optimizer sees it becomes z as it is sent. `waits`: see CopyCoefficients. `first` is
  // the first element's number.
  void to_sent(std::uint64_t first, std::span<float> values, bool waits = false);

  // One chunk: the model's elements, A and S. Elements that are zero become c, which is to be added
  // to model · x.
  void apply(std::uint64_t first, std::span<float> x, std::span<const double> average,
             std::span<const double> sent, const MergeSituation& situation = {});
  // What came late, as the difference it makes to the average.
  void apply_late(std::uint64_t first, std::span<float> x, std::span<const double> difference);

  [[nodiscard]] std::size_t bytes() const;  // of what is kept for every element

 private:
  MergeSettings settings_;
  // By element; empty unless needed.
  std::vector<float> hidden_;    // h
  std::vector<float> late_;      // came late since the last copy: no progress of our own
  std::vector<float> anchor_;    // z at the last copy, moved by what was merged since
  std::vector<float> velocity_;  // v
  std::vector<float> theta_;     // θ; NaN before the first average
};

}  // namespace cotillion
