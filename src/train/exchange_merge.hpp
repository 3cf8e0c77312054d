// Own weights and momentum in training code: rules that look at the running model when it is copied
// and merged. Its agent brings average − S and keeps all progress; what is laid down and what
// becomes of the model is the protocol's own arithmetic (protocol/merge), done here between steps.
#pragma once

#include "policy/recipe.hpp"
#include "protocol/merge.hpp"

namespace cotillion {

// The part of a recipe's rule that looks at the running model.
[[nodiscard]] constexpr bool looks_at_the_model(const Recipe& recipe) {
  return recipe.own_weight < 1 || recipe.momentum > 0;
}
[[nodiscard]] MergeSettings merge_settings_of(const Recipe& recipe);

class ExchangeMerge {
 public:
  ExchangeMerge(const Recipe& recipe, const JobSpec& job);

  // Elements from `first` on become what is laid down of them. `ahead`: the round before has not
  // been merged yet, and the region adds its correction to what lies there.
  void to_laid(std::uint64_t first, std::span<float> values, bool ahead);
  // And become what that round makes of them. `waited`: the next copy was laid down ahead of it.
  void apply(std::uint64_t first, std::span<float> x, std::span<const float> correction,
             bool everyone, bool waited);

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
