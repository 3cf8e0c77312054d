// A recipe's share of the merge rule.
#pragma once

#include "policy/recipe.hpp"
#include "protocol/merge_rule.hpp"

namespace cotillion {

[[nodiscard]] inline MergeSettings merge_settings_of(const RotationRecipe& recipe) {
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

// Whether the rule needs the running model when it is copied and merged: then it is not enough to
// add to a copy what is to be added to the model.
[[nodiscard]] constexpr bool looks_at_the_model(const RotationRecipe& recipe) {
  return recipe.own_weight < 1 || recipe.momentum > 0;
}

}  // namespace cotillion
