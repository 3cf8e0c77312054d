// Rounds that follow each other closely. A plan starts a round when the one before it has ended:
// while its last bytes fly, nobody sends. Who streams need not wait for that: the next round may
// start as soon as the bytes of this one have left. Streaming DiLoCo's clock never did otherwise.
#pragma once

#include "base/result.hpp"
#include "plan/plan.hpp"
#include "policy/recipe.hpp"

namespace cotillion {

struct CloseRounds {
  std::vector<RecipeRound> rounds;
  std::vector<RealDuration> objectives;  // by kObjectives, as they are now
  double faster = 1;                     // so many times as many rounds in the same time
};

// The streamed rounds of a plan, moved together. The reason where the network or its edges could
// not carry two rounds at once:
//  - On a link a sender's streams follow each other, as they leave it, for its paths are the same
//    in every round. So a link must carry, of each sender, the faster of two streams.
//  - Into an island one sum comes after the other. A round that is nearer waits at the edge.
//  - An edge must have the memory to hold two payloads, so that it does not matter when.
//  - A fragment has arrived when its next copy leaves.
[[nodiscard]] Result<CloseRounds> close_rounds(const NetworkModel& network, const Plan& plan,
                                               std::vector<RecipeRound> rounds, int fragments);

}  // namespace cotillion
