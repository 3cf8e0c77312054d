// What an average does to the running model, element by element:
//
//   x ← x + (average − S)
//
// S is this island's copy; where a wire rounds, the average is more by what that takes away of it.
// Training went on meanwhile, and its progress x − S stays, or a share p of it:
//
//   progress p     x ← average + p (x − S)                                   (p = 1: the paper)
//
// Three refinements keep state for every element, and only when they are asked for:
//
//   own weight a   the optimizer sees its own fresh progress D = z − S at a share a only; what is
//                  sent is z, which holds all of it: x = z − (1−a)·D        (a = 1: the paper)
//   sender's       momentum on the island's own increments Δ before they are sent: v ← μv + Δ
//   receiver's     momentum on the average after it has come: m ← μm + (average − θ), θ ← θ + m
//
// The recurrence on Δ is linear with a constant coefficient and commutes with any averaging. The
// one on averages commutes only when everyone takes part: with rotating cliques 0.9 lets
// disagreement decay by 0.949 a round and, on one-peer exponential graphs, grow. It is refused.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "protocol/job.hpp"

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

// Settings that converge under a schedule in which everyone meets in every round, or not; the
// reason otherwise.
[[nodiscard]] Result<MergeSettings> checked(const MergeSettings& settings,
                                            bool everyone_in_every_round);

class Merge {
 public:
  Merge(const JobSpec& job, const MergeSettings& settings);

  [[nodiscard]] const MergeSettings& settings() const { return settings_; }

  // x as the optimizer sees it becomes z as it is sent. `first` is the first element's number.
  // `waits`: the round before has come and is applied later; its average − p S is added to what
  // comes of this.
  void to_sent(std::uint64_t first, std::span<float> values, bool waits = false);

  // One chunk: the model's elements, the average and S. `everyone`: no island sat in another
  // clique. `waited`: the next copy has left in the meantime. Elements that are zero become what is
  // to be added to p · x.
  void apply(std::uint64_t first, std::span<float> x, std::span<const double> average,
             std::span<const double> sent, bool everyone, bool waited = false);
  // What came late, as the difference it makes to the average.
  void apply_late(std::uint64_t first, std::span<float> x, std::span<const double> difference);

  [[nodiscard]] std::size_t bytes() const;  // of what is kept for every element

 private:
  MergeSettings settings_;
  // By element; empty unless needed.
  std::vector<float> hidden_;    // z − x
  std::vector<float> late_;      // came late since the last snapshot: no progress of our own
  std::vector<float> anchor_;    // z at the last snapshot, moved by what was merged since
  std::vector<float> velocity_;  // v or m
  std::vector<float> theta_;     // θ; NaN before the first average
};

}  // namespace cotillion
