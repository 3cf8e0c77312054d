// A recipe of every kind on three islands, made by hand, and a text for them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "policy/recipe.hpp"
#include "train/corpus.hpp"

namespace cotillion::testing {

inline Corpus text_for(int islands, Split split = Split::kAlike) {
  return *make_corpus(synthetic_documents(1, 200'000, islands), islands, split, 1, 4096);
}

inline Recipe kind_of(const std::string& name, decltype(Recipe::kind) kind) {
  Recipe recipe{{}, std::move(kind)};
  recipe.name = name;
  recipe.islands = {"A", "B", "C"};
  recipe.shares = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  recipe.step_time = 0.1;
  return recipe;
}

inline std::vector<RecipeRound> pairs() {
  std::vector<RecipeRound> rounds;
  for (const std::vector<double>& mixing : std::vector<std::vector<double>>{
           {0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}, {1, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0.5}})
    rounds.push_back({0.3, mixing, {0, 0, 0}, {0.3, 0.3, 0.3}, false});
  return rounds;
}

inline RotationRecipe whole() {
  return {.rounds = pairs()};
}

inline RotationRecipe streamed() {
  RotationRecipe rotation = whole();
  rotation.fragments = 2;
  for (RecipeRound& round : rotation.rounds) {
    round.leaves = {0, 0.1, 0, 0.1, 0, 0.1};
    round.arrives = {0.1, 0.2, 0.1, 0.2, 0.1, 0.2};
  }
  return rotation;
}

inline RotationRecipe lossy() {
  RotationRecipe rotation = whole();
  rotation.lost = 0.1;
  rotation.own_for_missing = true;
  rotation.own_weight = 0.7;
  return rotation;
}

inline RotationRecipe pushed() {
  RotationRecipe rotation = whole();
  rotation.momentum = 0.3;
  rotation.momentum_at_sender = true;
  return rotation;
}

inline std::vector<Recipe> all_kinds() {
  return {kind_of("whole", whole()),
          kind_of("streamed", streamed()),
          kind_of("lossy, with own weight", lossy()),
          kind_of("momentum at the sender", pushed()),
          kind_of("gossip", GossipRecipe{pairs(), 5}),
          kind_of("synchronous", SynchronousRecipe{0.3}),
          kind_of("local SGD", OuterRecipe{5, 0.3}),
          kind_of("DiLoCo", OuterRecipe{5, 0.3, true, 0.7, 0.5}),
          kind_of("Streaming DiLoCo", StreamingRecipe{.steps = 5,
                                                      .fragments = 2,
                                                      .overlap = 2,
                                                      .outer_rate = 0.7,
                                                      .momentum = 0.5,
                                                      .keep = 0.5}),
          kind_of("eager DiLoCo", EagerRecipe{5, 0.3, 0.7, 0.5}),
          kind_of("NoLoCo", PairsRecipe{pairs(), 5, 0.7, 0.5}),
          kind_of("HALoS", ServersRecipe{.rounds = pairs(),
                                         .steps = 5,
                                         .exchange = 0.3,
                                         .every = 2,
                                         .overlap = 4,
                                         .server_weight = 0.25,
                                         .outer_rate = 0.7,
                                         .momentum = 0.5})};
}

}  // namespace cotillion::testing
