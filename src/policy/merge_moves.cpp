#include "policy/merge_moves.hpp"

#include <utility>

namespace cotillion {
namespace {

constexpr Buffer kX = Buffer::kModel, kH = Buffer::kHidden, kV = Buffer::kVelocity,
                 kAnchor = Buffer::kAnchor, kTheta = Buffer::kTheta;

// average·A, in two terms.
Term came(const MergeCoefficients& rule, const ArrivedAverage& average) {
  Term term{average.sent, 1, average.rows, average.wire};
  for (double& weight : term.mixing) weight *= rule.average;
  return term;
}
// It stays here, and leaves next time.
Term rounded_away(const MergeCoefficients& rule, const ArrivedAverage& average) {
  const bool rounds = average.wire != WireFormat::kF32;
  return {average.sent, rounds ? rule.average : 0.0, {}, average.wire};
}

}  // namespace

std::vector<Term> correction_terms(const Cargo& cargo, const MergeCoefficients& rule,
                                   const ArrivedAverage& average) {
  std::vector<Term> terms = {came(rule, average), rounded_away(rule, average)};
  if (!cargo.pushes()) terms.push_back({average.sent, rule.sent});
  return terms;
}

std::vector<Term> faded_terms(const MergeCoefficients& rule, ArrivedAverage average,
                              const std::vector<int>& who, const std::vector<double>& left,
                              int islands) {
  auto weight = average.rows.begin();
  for (std::size_t row = 0; row < who.size(); ++row)
    for (int j = 0; j < islands; ++j, ++weight)
      *weight = left[row] * (rule.average * *weight + (who[row] == j ? rule.sent : 0));
  return {{average.sent, 1, std::move(average.rows), average.wire}};
}

std::vector<Term> merged_terms(const Cargo& cargo, const MergeCoefficients& rule,
                               std::vector<Term> correction) {
  correction.push_back({cargo.of, rule.model});
  return correction;
}

std::vector<Term> copied_terms(const Cargo& cargo, std::vector<Term> x) {
  if (cargo.hides()) x.push_back({kH});
  return x;
}

std::vector<VectorUpdate> first_push(const Cargo& cargo) {
  return {{cargo.sent, {{kX}}}, {kAnchor, {{kX}}}};
}

std::vector<VectorUpdate> push(const Cargo& cargo, const CopyCoefficients& rule) {
  return {{kV, {{kV, rule.velocity}, {kX, rule.kept}, {kAnchor, -rule.kept}}},
          {cargo.sent, {{kAnchor}, {kV}}},
          {kAnchor, {{kX}}}};
}

std::vector<VectorUpdate> push_ahead(const Cargo& cargo, const CopyCoefficients& rule,
                                     const MergeCoefficients& merge) {
  return {{kV, {{kV, rule.velocity}, {kX, rule.kept}, {kAnchor, -rule.kept}}},
          {kAnchor, {{cargo.sent}, {kV}}},
          {cargo.held, {{kAnchor}, {kX, -merge.model}}},
          {cargo.sent, {{kAnchor}}}};
}

std::vector<VectorUpdate> merge_with_push(const Cargo& cargo, const MergeCoefficients& rule) {
  const Term average = {cargo.sent};  // that is what has become of it
  return {{kX, {average, {kAnchor, rule.sent}, {kX, rule.model}}, true}, {kAnchor, {average}}};
}

// x ← z + c − h: of z and c all but A is D = h / hides.
std::vector<VectorUpdate> merge_with_own_weight(const MergeCoefficients& rule,
                                                const ArrivedAverage& average) {
  const Buffer s = average.sent;
  return {{kH, {{kX, rule.hides}, {kH, rule.hides}, {s, -rule.hides}}},
          {kX,
           {came(rule, average), rounded_away(rule, average), {kH, rule.shows / rule.hides}},
           true}};
}

std::vector<VectorUpdate> merge_with_averages(const Cargo& cargo, const MergeCoefficients& rule,
                                              const ArrivedAverage& average, bool first) {
  std::vector<VectorUpdate> updates;
  Term target = came(rule, average);
  if (rule.on_averages) {
    if (first) {
      updates.push_back({kTheta, {target}});
    } else {
      updates.push_back({kV, {{kV, rule.velocity}, target, {kTheta, -1}}});
      updates.push_back({kTheta, {{kTheta}, {kV}}});
    }
    target = {kTheta};
  }
  updates.push_back(
      {kX,
       merged_terms(cargo, rule, {target, rounded_away(rule, average), {average.sent, rule.sent}}),
       true});
  return updates;
}

}  // namespace cotillion
