// Rivals as recipes. What they share: the network, its unicast twin, and what an exchange among
// everybody costs on either.
#pragma once

#include "plan/rivals.hpp"
#include "policy/policy_text.hpp"
#include "policy/recipes.hpp"

namespace cotillion {

// Everybody with everybody, whatever carries it.
struct FullExchange {
  double time = 0;           // seconds
  double serialisation = 0;  // the part of it that fragments shorten
  double payloads_out = 0;   // per island
  std::string name;
};

class RivalRecipes {
 public:
  // Keeps references. `blank` has what all recipes of a run have in common.
  RivalRecipes(const PlanFile& plan, const NetworkModel& network, const Recipe& blank,
               const RecipeSettings& settings);

  // Nothing where no rival has that name.
  [[nodiscard]] std::optional<Result<Recipe>> named(PolicyText& policy) const;

 private:
  using Answer = Result<Recipe>;
  [[nodiscard]] Result<FullExchange> network(PolicyText& policy, const char* otherwise) const;
  [[nodiscard]] Answer synchronous(PolicyText& policy) const;
  [[nodiscard]] Answer blocking(PolicyText& policy) const;
  [[nodiscard]] Answer streaming(PolicyText& policy) const;
  [[nodiscard]] Answer eager(PolicyText& policy) const;
  [[nodiscard]] Answer pairs(PolicyText& policy) const;
  [[nodiscard]] Answer gossip(PolicyText& policy) const;
  [[nodiscard]] Answer servers(PolicyText& policy) const;

  struct Price {
    double time = 0, serialisation = 0;
  };
  // Until the last of these flows, a payload each, has arrived.
  [[nodiscard]] Price price(const std::vector<Flow>& flows) const;
  [[nodiscard]] RecipeRound round_of(const std::vector<double>& mixing, int fragments) const;
  [[nodiscard]] std::vector<double> random_pairing(std::uint64_t draw) const;
  [[nodiscard]] Recipe start(const std::string& name, Recipe::Kind kind) const;

  const PlanFile& plan_;
  const NetworkModel& network_;
  const Recipe& blank_;
  const RecipeSettings& settings_;
  NetworkModel unicast_;
  int islands_;
  double payload_;
};

}  // namespace cotillion
