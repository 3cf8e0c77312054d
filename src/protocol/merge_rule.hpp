// The merge rule: what becomes of a model when an average comes, as coefficients of what an island
// has. It is stated here and nowhere else. `protocol/merge` applies it to floats: receivers, the
// simulator, agents and training code at an agent's region do. `policy/merge_moves` makes moves of
// it, which `learn` applies to the vectors of all islands at once. Tests hold the two together.
//
//   x  the running model, which the optimizer steps      S  this island's copy, as it was sent
//   A  the average that came; where a wire rounds, with what that took away of one's own copy
//   h  z − x, which the optimizer does not see: z = x + h is what is sent
//
// The paper's rule is x ← x + (A − S): progress made since the copy stays. As coefficients
//
//   correction   c = average·A + sent·S
//   merge        x ← model·x + c                  which is A + p (x − S) for a share of progress p
//
// Three refinements keep vectors beside x, and only when they are asked for:
//
//   own weight a   the optimizer sees its own fresh progress D = z − S at a share a only:
//                  h ← hides·D, x ← z + c − h, where z = model·x + hidden·h
//   sender's       momentum on the island's own increments Δ since its last average, the anchor:
//                  v ← velocity·v + Δ, Δ = kept·(z − anchor); kept·z + (v − Δ) is sent
//   receiver's     momentum on averages after they have come, θ being the last one with it:
//                  v ← velocity·v + (average·A − θ), θ ← θ + v; θ takes the place of average·A
//
// The recurrence on Δ is linear with a constant coefficient and commutes with any averaging. The
// one on averages commutes only when everyone takes part: with rotating cliques 0.9 lets
// disagreement decay by 0.949 a round and, on one-peer exponential graphs, grow. It is refused.
#pragma once

#include <cstdint>

namespace cotillion {

enum class MomentumAt : std::uint8_t { kNowhere, kSender, kReceiver };

// When contributions are missing from a chunk, n′ of n present: both keep rows stochastic.
enum class Missing : std::uint8_t {
  kMeanOfPresent,  // Σ present / n′
  kOwnForMissing,  // (Σ present + (n − n′)·own) / n
};

struct MergeSettings {
  Missing missing = Missing::kMeanOfPresent;
  double progress = 1;    // p, in [0, 1]; below one without momentum at the receiver
  double own_weight = 1;  // a, in [0, 1]; below one it goes without progress and momentum
  MomentumAt momentum_at = MomentumAt::kNowhere;
  double momentum = 0;  // μ, in [0, 1)
  // The receiver's momentum acts in rounds of everyone and rests in the others.
  bool momentum_only_with_everyone = false;
};

[[nodiscard]] constexpr bool has_momentum_at(const MergeSettings& settings, MomentumAt where) {
  return settings.momentum_at == where && settings.momentum > 0;
}

// The circumstances of one merge.
struct MergeSituation {
  bool everyone = true;  // no island sat in another clique
  bool waited = false;   // the next copy has left in the meantime, and what it took is scaled
  bool alone = false;    // nobody's contribution came
};

struct MergeCoefficients {
  bool rests = false;        // nothing changes: who hears nobody gives no progress up
  double average = 1;        // of A, and of what comes late, as the difference it makes to A
  double sent = -1;          // of S
  double model = 1;          // of x
  double hidden = 1;         // of h and of the anchor
  double hides = 0;          // of fresh progress, what becomes h: 1 − a
  double shows = 1;          // and what the optimizer sees of it: a
  bool on_averages = false;  // the receiver's momentum acts
  double velocity = 0;       // of v then

  // Whoever has A − S instead of c adds so much of S: none of it where all progress stays.
  [[nodiscard]] constexpr double of_copy_beside_difference() const { return average + sent; }
};
[[nodiscard]] MergeCoefficients merge_coefficients(const MergeSettings& settings,
                                                   const MergeSituation& situation);

// A copy. `waits`: the round before has come and is merged later, so that its c is added to this.
struct CopyCoefficients {
  double kept = 1;
  double velocity = 0;  // of v, with momentum at the sender
};
[[nodiscard]] CopyCoefficients copy_coefficients(const MergeSettings& settings, bool waits);

// An average, from the weights of those that are in it and of those that are missing:
// A = (Σ present + own · one's own) / divisor.
struct MeanCoefficients {
  double own = 0;
  double divisor = 1;
};
[[nodiscard]] constexpr MeanCoefficients mean_coefficients(Missing policy, double present,
                                                           double missing) {
  if (policy == Missing::kOwnForMissing) return {missing, present + missing};
  return {0, present};
}

}  // namespace cotillion
