// Rivals as recipes. They share the network, its unicast twin, and what an exchange among everybody
// costs on either.
#pragma once

#include "plan/rivals.hpp"
#include "policy/load.hpp"
#include "policy/policy_text.hpp"
#include "policy/recipes.hpp"

namespace cotillion {

// What every recipe on a map starts from. It must outlive whoever is given it.
struct RecipeBasis {
  const PlanFile& plan;
  const NetworkModel& network;
  const RecipeCommon& blank;
  const Load& load;
};

// Everybody with everybody, whatever carries it.
struct FullExchange {
  double time = 0;           // seconds
  double serialisation = 0;  // the part of it that fragments shorten
  double payloads_out = 0;   // per island
  std::string name;
};

class RivalRecipes {
 public:
  // Keeps references.
  explicit RivalRecipes(const RecipeBasis& basis);

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
  // The rounds of a gossip algorithm, as mixing matrices, and the algorithm's name for people.
  struct Mixings {
    std::string name;
    std::vector<std::vector<double>> rounds;
  };
  [[nodiscard]] Mixings gossip_mixings(PolicyText& policy) const;
  [[nodiscard]] Mixings matcha_mixings(double budget) const;
  [[nodiscard]] Mixings one_peer_mixings() const;
  [[nodiscard]] Answer servers(PolicyText& policy) const;

  struct Price {
    double time = 0, serialisation = 0;
  };
  // Regions, each with a server at one of its islands, and a global server at one of those.
  struct Regions {
    std::vector<Flow> within, across;
    std::vector<double> mixing;  // within regions
    bool one = false;            // there is no other
  };
  [[nodiscard]] Result<Regions> regions() const;
  // The one of these islands to which the others are nearest.
  [[nodiscard]] IslandId nearest(const std::vector<IslandId>& islands) const;
  [[nodiscard]] double there_and_back(const std::vector<Flow>& flows) const;
  // Until the last of these flows, a payload each, has arrived.
  [[nodiscard]] Price price(const std::vector<Flow>& flows) const;
  [[nodiscard]] RecipeRound round_of(const std::vector<double>& mixing, int fragments) const;
  [[nodiscard]] std::vector<double> random_pairing(std::uint64_t draw) const;
  // Of this kind, on what all recipes start from.
  [[nodiscard]] Recipe recipe(std::string name, double egress, decltype(Recipe::kind) kind) const;

  const PlanFile& plan_;
  const NetworkModel& network_;
  const RecipeCommon& blank_;
  const Load& load_;
  NetworkModel unicast_;
  int islands_;
  double payload_;
};

}  // namespace cotillion
