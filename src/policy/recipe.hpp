// A recipe is a training policy worked out for one map: who is averaged with whom, when copies
// leave and when they have come. It holds everything that training needs to know of the network.
// It is made from a plan where the map is at hand, and can be carried as a file to a machine that
// has only a GPU. A new kind of recipe is a struct here, a schedule of its own (step_schedule.hpp)
// and its list of fields in recipe_file.cpp; the compiler asks for both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.hpp"
#include "protocol/move.hpp"

namespace cotillion {

// What options, policies and files may ask for: a file can hold whatever an option takes.
constexpr double kMany = 1e9;        // the most steps or seconds
constexpr double kRateMost = 10;     // the highest learning rate
constexpr double kStepLeast = 1e-6;  // the shortest step, in seconds

// One exchange of a period. Times are seconds from its start, by island and then by fragment.
struct RecipeRound {
  double length = 0;
  std::vector<double> mixing;   // W, row-major
  std::vector<double> leaves;   // when an island must have copied the fragment
  std::vector<double> arrives;  // when all of it has come
  bool everyone = false;        // all islands are in one clique
};

// The paper's rule: x ← x + W S − S, while training goes on.
struct RotationRecipe {
  std::vector<RecipeRound> rounds;  // one period
  int fragments = 1;
  std::int64_t grain = 1;  // elements in a packet, where fragments are whole packets
  double own_weight = 1;   // a
  double progress = 1;     // p: the share of what was learned in flight that a merge keeps
  double momentum = 0;     // μ
  bool momentum_at_sender = false;
  double lost = 0;  // the share of contributions that never come, drawn by the recipe's seed
  bool own_for_missing = false;
  WireFormat wire = WireFormat::kF32;  // on which copies travel
  // How many of AdamW's moments islands average: none, v, or v and m. Each fragment of them has its
  // turn once in so many rounds.
  int moments = 0;
  int moments_every = 1;
};

// The paper's rule once every H steps; islands wait where the network takes longer than these.
struct GossipRecipe {
  std::vector<RecipeRound> rounds;
  int steps = 1;  // H
};

// Gradients are averaged after every step, while everybody waits.
struct SynchronousRecipe {
  double exchange = 0;  // seconds that an exchange takes
};

// Everybody waits every H steps, for averages of models or for DiLoCo's outer step.
struct OuterRecipe {
  int steps = 1;          // H
  double exchange = 0;    // seconds
  bool nesterov = false;  // there is an outer optimizer; otherwise models are averaged
  double outer_rate = 1;  // of the outer optimizer
  double momentum = 0;    // μ of it
};

// Streaming DiLoCo.
struct StreamingRecipe {
  int steps = 1;  // H: the cycle in which every fragment is exchanged once
  int fragments = 1;
  int overlap = 0;           // steps from a copy to its merge, at most
  double latency = 0;        // seconds that an exchange takes however little is sent,
  double serialisation = 0;  // and that passing all of it takes besides
  double outer_rate = 1;
  double momentum = 0;
  double keep = 0;  // α: how much of its own model an island keeps at a merge
  WireFormat wire = WireFormat::kF32;
};

// Eager overlapped DiLoCo.
struct EagerRecipe {
  int steps = 1;        // H
  double exchange = 0;  // seconds
  double outer_rate = 1;
  double momentum = 0;
};

// NoLoCo.
struct PairsRecipe {
  std::vector<RecipeRound> rounds;
  int steps = 1;  // H
  double outer_rate = 1;
  double momentum = 0;
  double pull = 1;  // γ
};

// HALoS.
struct ServersRecipe {
  std::vector<RecipeRound> rounds;  // one: who shares a regional server
  int steps = 1;                    // H
  double exchange = 0;              // seconds, within regions
  int every = 1;                    // regional exchanges to a global one
  int overlap = 0;                  // steps that a global exchange takes
  double server_weight = 0;         // how much of the global model a region takes
  double outer_rate = 1;
  double momentum = 0;
};

// What a recipe of any kind has.
struct RecipeCommon {
  std::string name;    // for people
  std::string policy;  // as it was asked for
  std::vector<std::string> islands;
  std::vector<double> shares;  // π, adds up to one
  double step_time = 0.169;    // τ, seconds
  std::uint64_t seed = 1;      // of what a policy draws at random
  double payload = 1;          // what is sent, as a share of the map's payload

  double learning_rate = 0;  // where a policy is tuned to one of its own; zero: the run's
  double egress = 0;         // mean bytes per second out of an island
  std::vector<std::pair<std::string, double>> staleness;  // predicted, ms, by objective
};

struct Recipe : RecipeCommon {
  std::variant<RotationRecipe, GossipRecipe, SynchronousRecipe, OuterRecipe, StreamingRecipe,
               EagerRecipe, PairsRecipe, ServersRecipe>
      kind;
};

[[nodiscard]] inline int island_count(const RecipeCommon& recipe) {
  return int(recipe.islands.size());
}

template <class Kind>
[[nodiscard]] bool is_a(const Recipe& recipe) {
  return std::holds_alternative<Kind>(recipe.kind);
}

// Of a recipe that is known to be a rotation: packets are exchanged by no other.
[[nodiscard]] inline const RotationRecipe& rotation_of(const Recipe& recipe) {
  COTILLION_CHECK(is_a<RotationRecipe>(recipe));
  return std::get<RotationRecipe>(recipe.kind);
}
[[nodiscard]] inline RotationRecipe& rotation_of(Recipe& recipe) {
  COTILLION_CHECK(is_a<RotationRecipe>(recipe));
  return std::get<RotationRecipe>(recipe.kind);
}

// The rounds of one period; empty where a kind has none.
[[nodiscard]] inline std::span<const RecipeRound> rounds_of(const Recipe& recipe) {
  return std::visit(
      [](const auto& kind) -> std::span<const RecipeRound> {
        if constexpr (requires { kind.rounds; })
          return kind.rounds;
        else
          return {};
      },
      recipe.kind);
}

// What a record of a training keeps of a recipe.
[[nodiscard]] inline Recipe without_rounds(Recipe recipe) {
  std::visit(
      [](auto& kind) {
        if constexpr (requires { kind.rounds; }) kind.rounds.clear();
      },
      recipe.kind);
  return recipe;
}

}  // namespace cotillion
