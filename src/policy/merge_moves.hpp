// The merge rule (protocol/merge_rule) as sums of vectors: what each vector of an island becomes
// when it is copied and merged. Who does it, and when, is the rotation's to say.
//
// A place that a copy lies in holds S until its average is known. Where one copy in flight is all
// there is room for, S then becomes its correction c where it lies. With momentum at the sender it
// becomes A, and the anchor is x as it was copied until the merge, the last average afterwards.
#pragma once

#include <vector>

#include "protocol/merge_rule.hpp"
#include "protocol/move.hpp"

namespace cotillion {

// A vector that travels, and where it is on its way.
struct Cargo {
  Buffer of, sent, sent_odd, held;
  MergeSettings settings;
  double fades = 1;  // β: what an optimizer's step leaves of it, and of what was sent before

  // Refinements are of the model alone.
  [[nodiscard]] bool hides() const { return settings.own_weight < 1; }
  [[nodiscard]] bool pushes() const { return has_momentum_at(settings, MomentumAt::kSender); }
  [[nodiscard]] bool refined() const { return hides() || settings.momentum > 0; }
};

// into ← Σ terms, by whoever merges or copies.
struct VectorUpdate {
  Buffer into = Buffer::kModel;
  std::vector<Term> terms;
  bool merges = false;  // brings in what others sent
};

// A as terms: what came of S, averaged by rows, and what the wire took away of one's own.
struct ArrivedAverage {
  Buffer sent = Buffer::kSentEven;
  std::vector<double> rows;  // for each of those who merge, of all islands
  WireFormat wire = WireFormat::kF32;
};

// c; of momentum at the sender average·A, and what is to be subtracted is the anchor.
[[nodiscard]] std::vector<Term> correction_terms(const Cargo& cargo, const MergeCoefficients& rule,
                                                 const ArrivedAverage& average);
// The same of a vector that fades: of what was sent `left` is left, for each of `who` among so many
// islands. So it keeps what it gathered in flight, and v of AdamW does not fall below zero.
[[nodiscard]] std::vector<Term> faded_terms(const MergeCoefficients& rule, ArrivedAverage average,
                                            const std::vector<int>& who,
                                            const std::vector<double>& left, int islands);
// model·x + c.
[[nodiscard]] std::vector<Term> merged_terms(const Cargo& cargo, const MergeCoefficients& rule,
                                             std::vector<Term> correction);

// What is sent, from x or from what x will be: z.
[[nodiscard]] std::vector<Term> copied_terms(const Cargo& cargo, std::vector<Term> x);
// Momentum at the sender. For the first time there is nothing to start from.
[[nodiscard]] std::vector<VectorUpdate> first_push(const Cargo& cargo);
[[nodiscard]] std::vector<VectorUpdate> push(const Cargo& cargo, const CopyCoefficients& rule);
// Where A has come to the copy's place and still waits for the end of the step: what leaves is A, a
// share of the progress since and v. The step then ends at what was sent and that share of the
// update: x becomes model·x and what is held.
[[nodiscard]] std::vector<VectorUpdate> push_ahead(const Cargo& cargo, const CopyCoefficients& rule,
                                                   const MergeCoefficients& merge);

// With a refinement.
[[nodiscard]] std::vector<VectorUpdate> merge_with_push(const Cargo& cargo,
                                                        const MergeCoefficients& rule);
[[nodiscard]] std::vector<VectorUpdate> merge_with_own_weight(const MergeCoefficients& rule,
                                                              const ArrivedAverage& average);
// `first`: there is no θ yet.
[[nodiscard]] std::vector<VectorUpdate> merge_with_averages(const Cargo& cargo,
                                                            const MergeCoefficients& rule,
                                                            const ArrivedAverage& average,
                                                            bool first);

}  // namespace cotillion
