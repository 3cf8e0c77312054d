// A policy with its clock, worked out for a map: everything that training needs to know of the
// network, and nothing else. It is made from a plan where the map is at hand, and can be carried to
// a machine that has only a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "protocol/move.hpp"

namespace cotillion {

// What options, policies and files may ask for: what one takes the others can read.
constexpr double kMany = 1e9;        // steps or seconds, at most
constexpr double kRateMost = 10;     // of learning
constexpr double kStepLeast = 1e-6;  // seconds that a step takes

// One exchange of a rotation. Times are seconds from its start; by island, then fragment.
struct RecipeRound {
  double length = 0;
  std::vector<double> mixing;   // W, row-major
  std::vector<double> leaves;   // when an island must have copied the fragment
  std::vector<double> arrives;  // when all of it has come
  bool everyone = false;        // nobody sits in another clique
};

struct Recipe {
  enum class Kind : std::uint8_t {
    kRotation,     // the paper's rule: x ← x + W S − S, training goes on
    kGossip,       // the same once every H steps, waiting where the network takes longer
    kSynchronous,  // gradients are averaged after every step, while everybody waits
    kOuter,        // everybody waits every H steps: averages, or DiLoCo's outer step
    kStreaming,    // Streaming DiLoCo
    kEager,        // eager overlapped DiLoCo
    kPairs,        // NoLoCo
    kServers,      // HALoS
  };
  std::string name;    // for people
  std::string policy;  // as it was asked for
  Kind kind = Kind::kRotation;
  std::vector<std::string> islands;
  std::vector<double> shares;  // π, adds up to one
  double step_time = 0.169;    // τ, seconds

  std::vector<RecipeRound> rounds;  // one period
  int fragments = 1;
  std::int64_t grain = 1;  // elements in a packet, where fragments are whole packets
  double own_weight = 1;   // a
  double progress = 1;     // p: the share of what was learned in flight that a merge keeps
  double momentum = 0;     // μ
  bool momentum_at_sender = false;
  double lost = 0;  // the share of contributions that never come
  bool own_for_missing = false;
  std::uint64_t seed = 1;              // of what is lost
  WireFormat wire = WireFormat::kF32;  // on which copies travel
  double payload = 1;                  // of the map's, what is sent
  // How many of AdamW's moments islands average, 0, 1 (v) or 2 (m too), each fragment of them once
  // in so many rounds.
  int moments = 0;
  int moments_every = 1;

  int steps = 1;             // H
  double exchange = 0;       // seconds that an exchange takes
  double outer_rate = 1;     // of outer optimizers
  bool nesterov = false;     // an outer optimizer at all; otherwise states are averaged
  int overlap = 0;           // steps from a copy to its merge, at most
  double latency = 0;        // of an exchange: what it takes however little is sent,
  double serialisation = 0;  // and what passing all of it takes besides
  double keep = 0;           // α: how much of its own an island keeps at a merge
  double pull = 1;           // γ of NoLoCo
  int every = 1;             // regional exchanges to a global one
  double server_weight = 0;  // how much of the global model a region takes

  double learning_rate = 0;  // where a policy is tuned to one of its own; zero: the run's
  double egress = 0;         // bytes per second out of an island, mean
  std::vector<std::pair<std::string, double>> staleness;  // predicted, ms, by objective
};

[[nodiscard]] inline int island_count(const Recipe& recipe) {
  return int(recipe.islands.size());
}

}  // namespace cotillion
