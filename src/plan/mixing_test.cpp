#include "plan/mixing.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "plan/objective.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::random_schedule;
using Matrix = std::vector<std::vector<long double>>;

// The slow clear reference: W as a dense matrix, Φ by full products in long double.
Matrix dense(const Round& round, int n) {
  Matrix w(n, std::vector<long double>(n, 0));
  for (const Clique& clique : round.cliques)
    for (int i = 0; i < clique.size(); ++i)
      for (int j = 0; j < clique.size(); ++j)
        w[clique.islands[i]][clique.islands[j]] =
            clique.weights.empty() ? 1.0L / clique.size()
                                   : clique.weights[std::size_t(i) * clique.size() + j];
  return w;
}

Matrix product(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.size();
  Matrix c(n, std::vector<long double>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

long double survival(const Matrix& phi) {
  const auto n = static_cast<long double>(phi.size());
  long double sum = 0;
  for (const auto& row : phi)
    for (const long double value : row) sum += std::fabs(value - 1 / n);
  return sum / (2 * n - 2);
}

Matrix identity(int n) {
  Matrix one(n, std::vector<long double>(n, 0));
  for (int i = 0; i < n; ++i) one[i][i] = 1;
  return one;
}

// A by definition, summed until nothing is left.
long double dense_area(const Schedule& schedule, int n, int rounds) {
  const int period = int(schedule.rounds.size());
  long double area = 0;
  for (int phase = 0; phase < period; ++phase) {
    Matrix phi = identity(n);
    for (int h = 0; h < rounds; ++h) {
      area += survival(phi);
      phi = product(dense(schedule.rounds[(phase + h + 1) % period], n), phi);
    }
  }
  return area / period;
}

Schedule schedule_of(std::vector<std::vector<std::vector<IslandId>>> rounds, int n) {
  Schedule schedule{"test", {}};
  for (const auto& groups : rounds) {
    std::vector<Clique> cliques;
    for (const auto& group : groups) cliques.push_back({group, {}});
    schedule.rounds.push_back(completed(std::move(cliques), n));
  }
  return schedule;
}

TEST(Mixing, BlockMatrixOfThePaperAveragesTwoAndLeavesTheThird) {
  const Schedule schedule = schedule_of({{{0, 1}}}, 3);
  const Matrix w = dense(schedule.rounds[0], 3);
  EXPECT_EQ(w, (Matrix{{0.5L, 0.5L, 0}, {0.5L, 0.5L, 0}, {0, 0, 1}}));
  // The third island is never met: such a schedule does not settle.
  const Mixing mixing = mix(schedule, 3);
  EXPECT_TRUE(std::isinf(mixing.area));
  EXPECT_FALSE(mixing.settles_after.has_value());
}

TEST(Mixing, AllToAllSettlesInOneRound) {
  const Mixing mixing = mix(schedule_of({{{0, 1, 2, 3, 4}}}, 5), 5);
  EXPECT_EQ(mixing.area, 1);
  EXPECT_EQ(mixing.area_squared, 1);
  EXPECT_EQ(mixing.settles_after, 1);
}

TEST(Mixing, OrthogonalGridSettlesInTwoRoundsFromEveryPhase) {
  const Mixing mixing = mix(
      schedule_of({{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}, {{0, 3, 6}, {1, 4, 7}, {2, 5, 8}}}, 9), 9);
  EXPECT_NEAR(mixing.area, 1.75, 1e-14);
  EXPECT_NEAR(mixing.area_squared, 1.25, 1e-14);
  EXPECT_EQ(mixing.settles_after, 2);
}

TEST(Mixing, HypercubePairsSettleInLogarithmicallyManyRounds) {
  Schedule schedule{"hypercube", {}};
  for (int bit = 1; bit < 32; bit *= 2) {
    std::vector<Clique> cliques;
    for (IslandId i = 0; i < 32; ++i)
      if ((i & bit) == 0) cliques.push_back({{i, IslandId(i | bit)}, {}});
    schedule.rounds.push_back(completed(std::move(cliques), 32));
  }
  const Mixing mixing = mix(schedule, 32);
  EXPECT_EQ(mixing.settles_after, 5);
  // The bound for cliques of two, tight because 32 = 2^5.
  double bound = 0;
  for (int h = 0, held = 1; h < 5; ++h, held *= 2) bound += (32.0 - held) / 31;
  EXPECT_NEAR(mixing.area, bound, 1e-13);
}

TEST(Mixing, OneIslandHasNobodyToDisagreeWith) {
  const Mixing mixing = mix(schedule_of({{{0}}}, 1), 1);
  EXPECT_EQ(mixing.area, 0);
  EXPECT_EQ(mixing.settles_after, 0);
}

TEST(Mixing, EverybodyAloneNeverSettles) {
  EXPECT_TRUE(std::isinf(mix(schedule_of({{{0}, {1}}}, 2), 2).area));
}

TEST(Mixing, SwappingForEverNeverSettles) {
  Schedule schedule{"swap", {}};
  schedule.rounds.push_back(completed({{{0, 1}, {0, 1, 1, 0}}}, 2));
  EXPECT_TRUE(std::isinf(mix(schedule, 2).area));
}

TEST(Mixing, WeightsOfOneHalfAreTheUniformAverage) {
  Schedule uniform = schedule_of({{{0, 1}, {2, 3}}, {{1, 2}}}, 4), weighted = uniform;
  for (Round& round : weighted.rounds)
    for (Clique& clique : round.cliques)
      if (clique.size() == 2) clique.weights = {0.5, 0.5, 0.5, 0.5};
  EXPECT_NEAR(mix(uniform, 4).area, mix(weighted, 4).area, 1e-12);
}

TEST(Mixing, SlowLinesOfPairsAreClosedAnalytically) {
  // Sixteen islands in a line decay slowly; the reference sums it all.
  std::vector<std::vector<IslandId>> odd, even;
  for (int i = 0; i + 1 < 16; i += 2) odd.push_back({IslandId(i), IslandId(i + 1)});
  for (int i = 1; i + 1 < 16; i += 2) even.push_back({IslandId(i), IslandId(i + 1)});
  const Schedule schedule = schedule_of({odd, even}, 16);
  const auto reference = double(dense_area(schedule, 16, 3000));
  EXPECT_NEAR(mix(schedule, 16).area, reference, 1e-9 * reference);
}

TEST(Mixing, DiscountForgetsOldGenerations) {
  const Schedule schedule = schedule_of({{{0, 1}, {2, 3}}, {{1, 2}}}, 4);
  MixingAim aim;
  aim.discount = 0.5;
  EXPECT_LT(mix(schedule, 4, aim).area, mix(schedule, 4).area);
}

RC_GTEST_PROP(Mixing, AreaAgreesWithDenseProductsInLongDouble, (std::uint64_t seed)) {
  const int n = 2 + int(seed % 7), period = 1 + int(seed / 7 % 4);
  const Schedule schedule = random_schedule(n, period, seed);
  const Mixing mixing = mix(schedule, n);
  RC_PRE(std::isfinite(mixing.area));
  RC_PRE(mixing.decay < 0.97);
  const auto reference = double(dense_area(schedule, n, 1500));
  RC_ASSERT(std::fabs(mixing.area - reference) <= 1e-10 * reference);
}

RC_GTEST_PROP(Mixing, CurvesStartAtOneAndNeverRise, (std::uint64_t seed)) {
  const int n = 2 + int(seed % 11), period = 1 + int(seed / 11 % 4);
  const Mixing mixing = mix(random_schedule(n, period, seed), n);
  for (const PhaseCurves& phase : mixing.phases)
    for (const SurvivalCurve* curve : {&phase.absolute, &phase.squared}) {
      RC_ASSERT(curve->values.front() == 1);
      for (std::size_t h = 1; h < curve->values.size(); ++h)
        RC_ASSERT(curve->values[h] <= curve->values[h - 1] + 1e-14);
    }
}

RC_GTEST_PROP(Mixing, MatricesAreDoublyStochastic, (std::uint64_t seed)) {
  const int n = 2 + int(seed % 9);
  const Matrix w = dense(random_schedule(n, 1, seed).rounds[0], n);
  for (int i = 0; i < n; ++i) {
    long double row = 0, column = 0;
    for (int j = 0; j < n; ++j) {
      row += w[i][j];
      column += w[j][i];
      RC_ASSERT(w[i][j] == w[j][i]);
    }
    RC_ASSERT(std::fabs(row - 1) < 1e-15L && std::fabs(column - 1) < 1e-15L);
  }
}

RC_GTEST_PROP(Mixing, RotatingThePhaseLeavesTheAreaUnchanged, (std::uint64_t seed)) {
  const int n = 2 + int(seed % 9), period = 2 + int(seed / 9 % 3);
  Schedule schedule = random_schedule(n, period, seed);
  const double area = mix(schedule, n).area;
  std::rotate(schedule.rounds.begin(), schedule.rounds.begin() + 1, schedule.rounds.end());
  const double rotated = mix(schedule, n).area;
  RC_ASSERT(area == rotated || std::fabs(area - rotated) <= 1e-11 * area);
}

RC_GTEST_PROP(Mixing, FirstTwoPointsHaveClosedForms, (std::uint64_t seed)) {
  const int n = 2 + int(seed % 12);
  const Schedule schedule = random_schedule(n, 2, seed);
  const Mixing mixing = mix(schedule, n);
  RC_PRE(!mixing.phases.empty());
  RC_PRE(mixing.phases[1].absolute.values.size() > 2u);
  // Born in phase 1, a generation meets round 0 first, then round 1.
  const auto& first = schedule.rounds[0].cliques;
  const auto& second = schedule.rounds[1].cliques;
  double e1 = n, e2 = 0;
  for (const Clique& c : first) e1 -= double(c.size()) * c.size() / n;
  e1 /= n - 1;
  for (const Clique& c : first)
    for (const Clique& a : second) {
      int common = 0;
      for (const IslandId island : a.islands)
        common += int(std::count(c.islands.begin(), c.islands.end(), island));
      e2 += std::fabs(common - double(c.size()) * a.size() / n);
    }
  e2 /= 2.0 * n - 2;
  RC_ASSERT(std::fabs(mixing.phases[1].absolute.values[1] - e1) < 1e-13);
  RC_ASSERT(std::fabs(mixing.phases[1].absolute.values[2] - e2) < 1e-13);
}

RC_GTEST_PROP(Mixing, AreaRespectsTheBoundForItsLargestClique, (std::uint64_t seed)) {
  const int n = 2 + int(seed % 12), period = 1 + int(seed / 12 % 3);
  const Schedule schedule = random_schedule(n, period, seed);
  int largest = 1;
  for (const Round& round : schedule.rounds)
    for (const Clique& clique : round.cliques) largest = std::max(largest, clique.size());
  double bound = 0;
  for (double reached = 1; reached < n && largest > 1; reached *= largest)
    bound += (n - reached) / (n - 1);
  RC_ASSERT(mix(schedule, n).area >= bound - 1e-12);
}

// Equation sumloss over K rounds, from the definition of e_k(h).
double whole_run_loss(const Mixing& mixing, int period, int rounds) {
  const auto e = [&](int phase, int h) {
    return survival_at(mixing.phases[phase].absolute, h, period);
  };
  double loss = 0;
  for (int k = 1; k <= rounds - 1; ++k)
    for (int h = 0; h <= rounds - k - 1; ++h) loss += e(k % period, h);
  return loss;
}

TEST(Mixing, WholeRunLossApproachesKTimesAWithABoundedRemainder) {
  const Schedule schedule = schedule_of({{{0, 1}, {2, 3}, {4, 5}}, {{1, 2}, {3, 4}}}, 6);
  const Mixing mixing = mix(schedule, 6);
  const double early = 300 * mixing.area - whole_run_loss(mixing, 2, 300);
  const double late = 2000 * mixing.area - whole_run_loss(mixing, 2, 2000);
  EXPECT_GT(early, 0);
  EXPECT_NEAR(early, late, 1e-6);  // it has stopped growing
}

TEST(Objective, EqualLengthsGiveTheFormulasOfThePaper) {
  const Mixing mixing =
      mix(schedule_of({{{0, 1}, {2, 3}, {4, 5}}, {{1, 2}, {3, 4}}, {{0, 5}}}, 6), 6);
  const RealDuration t = RealDuration::from_ps(7e11), d = RealDuration::from_ps(2e11);
  const std::vector<RealDuration> lengths(3, t);
  const auto expect = [&](Objective objective, double value) {
    EXPECT_NEAR(staleness(objective, mixing, lengths, d).ps, value, 1e-9 * value);
  };
  expect(Objective::kPaper, t.ps * (mixing.area + 0.5));
  expect(Objective::kSquared, t.ps * (mixing.area_squared + 0.5));
  expect(Objective::kPaperStreamed, t.ps * (mixing.area - 0.5) + d.ps);
  expect(Objective::kSquaredStreamed, t.ps * (mixing.area_squared - 0.5) + d.ps);
}

TEST(Objective, UnequalLengthsWeighGenerationsByTheTimeTheyWereBornIn) {
  // All-to-all every round: a generation of a round of length a waits through the next one.
  const Mixing mixing = mix(schedule_of({{{0, 1}}, {{0, 1}}}, 2), 2);
  const double a = 100e9, b = 300e9;
  const double expected = (a * (a / 2 + b) + b * (b / 2 + a)) / (a + b);
  const std::vector<RealDuration> lengths{RealDuration::from_ps(a), RealDuration::from_ps(b)};
  EXPECT_NEAR(staleness(Objective::kPaper, mixing, lengths, RealDuration{}).ps, expected, 1);
}

// Four islands meet in pairs, then in the other pairs: after one round 2/3 of a generation's
// disagreement is left, after two nothing.
Mixing pairs_then_the_other_pairs() {
  return mix(schedule_of({{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}}, 4), 4);
}

TEST(Objective, StreamedGenerationsAreHeldFromOneMergeToTheNext) {
  const double a = 100e9, b = 300e9, d = 150e9;
  const std::vector<RealDuration> lengths{RealDuration::from_ps(a), RealDuration::from_ps(b)};
  // What is born in round 0 merges d after the start of round 1, and again b later.
  const double expected = (a * (a / 2 + d + b * 2 / 3) + b * (b / 2 + d + a * 2 / 3)) / (a + b);
  const Mixing mixing = pairs_then_the_other_pairs();
  EXPECT_NEAR(staleness(Objective::kPaperStreamed, mixing, lengths, RealDuration::from_ps(d)).ps,
              expected, 1);
}

TEST(Objective, EveryRoundMayHaveADelayOfItsOwn) {
  const double a = 100e9, b = 300e9, d0 = 90e9, d1 = 250e9;
  const std::vector<RealDuration> lengths{RealDuration::from_ps(a), RealDuration::from_ps(b)};
  const std::vector<RealDuration> delays{RealDuration::from_ps(d0), RealDuration::from_ps(d1)};
  const double expected =
      (a * (a / 2 + d1 + (b + d0 - d1) * 2 / 3) + b * (b / 2 + d0 + (a + d1 - d0) * 2 / 3)) /
      (a + b);
  const Mixing mixing = pairs_then_the_other_pairs();
  EXPECT_NEAR(staleness(Objective::kPaperStreamed, mixing, lengths, delays).ps, expected, 1);
}

TEST(Objective, ARoundWithoutLengthChangesNothing) {
  const auto ms = [](double value) { return RealDuration::from_ps(value * 1e9); };
  const Mixing two = pairs_then_the_other_pairs();
  const Mixing three = mix(schedule_of({{{0, 1}, {2, 3}}, {{0}, {1}}, {{0, 2}, {1, 3}}}, 4), 4);
  for (const Objective objective : kObjectives)
    EXPECT_NEAR(staleness(objective, two, {ms(100), ms(300)}, ms(150)).ps,
                staleness(objective, three, {ms(100), ms(0), ms(300)}, ms(150)).ps, 1);
}

TEST(Objective, WhereEveryRoundSendsAsLongFragmentsSaveThatTimeAndNoMore) {
  // A fragment merges S(1 − 1/F) before its round ends, so everything happens that much earlier.
  const double saved = 70e9;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const int n = 3 + int(seed % 6), period = 1 + int(seed % 4);
    const Mixing mixing = mix(random_schedule(n, period, seed), n);
    if (std::isinf(mixing.area)) continue;
    std::vector<RealDuration> lengths, delays;
    for (int k = 0; k < period; ++k) {
      lengths.push_back(RealDuration::from_ps(80e9 + double((seed * 37 + k * 53) % 200) * 1e9));
      delays.push_back(lengths.back() - RealDuration::from_ps(saved));
    }
    const double whole = staleness(Objective::kSquared, mixing, lengths, RealDuration{}).ps;
    EXPECT_NEAR(staleness(Objective::kSquaredStreamed, mixing, lengths, delays).ps, whole - saved,
                1e-9 * whole)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace cotillion
