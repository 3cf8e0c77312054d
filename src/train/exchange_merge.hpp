// Own weights and momentum in training code: rules that look at the running model when it is copied
// and merged. Its agent brings average − S and keeps all progress; what is laid down and what
// becomes of the model is the protocol's own arithmetic (protocol/merge), done here between steps.
#pragma once

#include "policy/merge_settings.hpp"
#include "protocol/merge.hpp"

namespace cotillion {

class ExchangeMerge {
 public:
  ExchangeMerge(const RotationRecipe& recipe, const JobSpec& job);

  // Elements from `first` on become what is laid down of them. `ahead`: the round before has not
  // been merged yet, and the region adds its correction to what lies there.
  void to_laid(std::uint64_t first, std::span<float> values, bool ahead);
  // And become what that round makes of them.
  void apply(std::uint64_t first, std::span<float> x, std::span<const float> correction,
             const MergeSituation& situation);
  // What came late, as the difference it makes to an average.
  void apply_late(std::uint64_t first, std::span<float> x, std::span<const float> difference);

  [[nodiscard]] std::size_t bytes() const;

 private:
  // What averages are compared with. The receiver's momentum goes by averages as everyone has them,
  // without what the wire has rounded away of one's own.
  [[nodiscard]] float sent(std::size_t element) const;

  const WireFormat wire_;
  Merge merge_;
  std::vector<float> copied_;  // what left in the round that is merged next
  std::vector<float> ahead_;   // what was laid down ahead, without that round's correction
};

}  // namespace cotillion
