// Policies by name, on the map of a plan: which recipe each is there. All are priced on the same
// network with the same optimism as in plan/policies; docs/understand/training.md says how.
#pragma once

#include <string>
#include <vector>

#include "plan/file/plan_loader.hpp"
#include "policy/recipe.hpp"
#include "protocol/merge_rule.hpp"

namespace cotillion {

struct RecipeSettings {
  double step_time = 0;        // τ, seconds; zero: the plan's
  std::vector<double> shares;  // π by island, any scale; empty: equal
  double lost = 0;             // share of contributions that never come
  Missing missing = Missing::kMeanOfPresent;
  std::uint64_t seed = 1;  // of what is random in a policy
};

struct PolicyName {
  std::string name;
  std::string help;
};
[[nodiscard]] const std::vector<PolicyName>& policy_names();

// Every policy may also have a learning-rate= of its own, and wire=f32|bf16|i32, which changes what
// is sent and with it every time; payload= sets the share of the map's payload instead. The reason
// where a policy cannot be: unknown, infeasible, momentum that would not converge, or faster than
// the network.
[[nodiscard]] Result<Recipe> recipe_for(const PlanFile& plan, const std::string& policy,
                                        const RecipeSettings& settings);

}  // namespace cotillion
