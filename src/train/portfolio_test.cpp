// The rule against the paper's own account of it: what an island holds is a portfolio of what all
// of them have learned.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "tests/support/train/step_schedule_play.hpp"

namespace cotillion {
namespace {

using namespace testing;

const std::vector<std::vector<double>> kPairs = {{0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1},
                                                 {1, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0.5}};

// Three islands of four elements, which learn whole numbers at random.
class Ledger {
 public:
  void play(const StepSchedule& schedule, int steps) {
    Random random(7);
    for (int step = 0; step < steps; ++step) {
      apply(schedule.after(step));
      const AroundStep around = schedule.around(step + 1);
      apply(around.before);
      for (int i = 0; i < 3; ++i)
        for (int e = 0; e < 4; ++e) {
          const auto increment = float(random.between(-8, 8));
          vectors_.at(Buffer::kModel, i, e) += increment;
          bins_[i][e].back() += increment;
        }
      apply(around.after);
    }
  }

  // The portfolio: G(k+1) = W(k) G(k) + Δ(k), and what has been learned since.
  void expect_portfolio(int e) {
    std::size_t rounds = 0;
    for (int i = 0; i < 3; ++i) rounds = std::max(rounds, bins_[i][e].size() - 1);
    std::vector<std::vector<double>> sent = {{bins_[0][e][0], bins_[1][e][0], bins_[2][e][0]}},
                                     mixed;
    for (std::size_t k = 0; k < rounds; ++k) {
      const auto& w = kPairs[k % 2];
      mixed.emplace_back(3);
      sent.emplace_back(3);
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) mixed[k][i] += w[i * 3 + j] * sent[k][j];
        sent[k + 1][i] = mixed[k][i] + (k + 1 < bins_[i][e].size() ? bins_[i][e][k + 1] : 0);
      }
    }
    for (int i = 0; i < 3; ++i) {
      const auto ui = std::size_t(i);
      ASSERT_GE(bins_[i][e].size(), 3u);
      const std::size_t k = bins_[i][e].size() - 2;  // the last round it has copied
      double expected = bins_[i][e].back() + sent[k][ui];
      if (merges_[i][e] == int(k) + 1) expected += mixed[k][ui] - sent[k][ui];
      if (merges_[i][e] == int(k) - 1) expected -= mixed[k - 1][ui] - sent[k - 1][ui];
      ASSERT_LE(std::abs(merges_[i][e] - int(k)), 1);
      EXPECT_NEAR(vectors_.at(Buffer::kModel, i, e), expected, 1e-3);
    }
  }

 private:
  void apply(const std::vector<VectorMove>& moves) {
    for (const VectorMove& move : moves) {
      vectors_.apply(move);
      const Span span = span_of(move, 4);
      const bool copies = std::any_of(move.terms.begin(), move.terms.end(),
                                      [](const Term& t) { return t.from == Buffer::kModel; });
      for (const int i : move.islands)
        for (std::int64_t e = span.first; e < span.first + span.count; ++e) {
          if (move.merges)
            ++merges_[i][e];
          else if (copies)
            count_copy(i, e);
        }
    }
  }

  // Who rests in a round has copied and merged nothing in it, and so in the next one twice.
  void count_copy(int i, std::int64_t e) {
    const auto rests = [&] {
      return kPairs[(bins_[i][e].size() - 1) % 2][std::size_t(i) * 4] == 1;
    };
    for (; rests(); ++merges_[i][e]) bins_[i][e].push_back(0);
    bins_[i][e].push_back(0);
  }

  PlainVectors vectors_{3, 4};
  // By island and element: increments before the first copy, and since each.
  std::vector<double> bins_[3][4] = {
      {{0}, {0}, {0}, {0}}, {{0}, {0}, {0}, {0}}, {{0}, {0}, {0}, {0}}};
  int merges_[3][4] = {};
};

TEST(Rotation, StatesAreThePortfolioOfGenerations) {
  for (const int fragments : {1, 4})
    for (const int steps : {57, 58, 59, 60}) {
      RotationRecipe recipe;
      recipe.fragments = fragments;
      recipe.rounds = {round_of(kPairs[0], 0.37, 3, fragments),
                       round_of(kPairs[1], 0.25, 3, fragments)};
      Ledger ledger;
      ledger.play(*make_step_schedule(recipe_of(recipe, 3)), steps);
      for (int e = 0; e < 4; ++e) ledger.expect_portfolio(e);
    }
}

}  // namespace
}  // namespace cotillion
