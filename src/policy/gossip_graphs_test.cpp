#include "policy/gossip_graphs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cotillion {
namespace {

Matrix times(int n, const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        c[std::size_t(i * n + j)] += a[std::size_t(i * n + k)] * b[std::size_t(k * n + j)];
  return c;
}

void expect_doubly_stochastic(int n, const Matrix& matrix) {
  for (int i = 0; i < n; ++i) {
    double row = 0, column = 0;
    for (int j = 0; j < n; ++j) {
      row += matrix[std::size_t(i * n + j)];
      column += matrix[std::size_t(j * n + i)];
      EXPECT_GE(matrix[std::size_t(i * n + j)], -1e-12);
    }
    EXPECT_NEAR(row, 1, 1e-12);
    EXPECT_NEAR(column, 1, 1e-12);
  }
}

TEST(GossipGraphs, MetropolisWeightsOfAPath) {
  const Matrix w = metropolis(3, {{0, 1}, {1, 2}});
  EXPECT_NEAR(w[0], 2.0 / 3, 1e-12);
  EXPECT_NEAR(w[1], 1.0 / 3, 1e-12);
  EXPECT_NEAR(w[4], 1.0 / 3, 1e-12);
  EXPECT_NEAR(w[2], 0, 1e-12);
}

TEST(GossipGraphs, BaseGraphsAverageExactlyWithFewPartners) {
  for (int k = 1; k <= 3; ++k)
    for (int n = 1; n <= 26; ++n) {
      const auto rounds = base_graph(n, k);
      Matrix product(std::size_t(n * n), 0.0);
      for (int i = 0; i < n; ++i) product[std::size_t(i * n + i)] = 1;
      for (const Matrix& round : rounds) {
        expect_doubly_stochastic(n, round);
        for (int i = 0; i < n; ++i) {
          int partners = 0;
          for (int j = 0; j < n; ++j) partners += j != i && round[std::size_t(i * n + j)] != 0;
          EXPECT_LE(partners, k) << n;
        }
        product = times(n, round, product);
      }
      for (const double entry : product) EXPECT_NEAR(entry, 1.0 / n, 1e-9) << n << " " << k;
    }
}

TEST(GossipGraphs, BaseGraphOfThreeIsAPairAndTheThirdByHand) {
  const auto rounds = base_graph(3, 1);
  ASSERT_EQ(rounds.size(), 3u);
  EXPECT_EQ(rounds[0], (Matrix{0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1}));
  // The third meets one of the two, who stands for both: two thirds.
  EXPECT_NEAR(rounds[1][2], 2.0 / 3, 1e-12);
  EXPECT_NEAR(rounds[1][8], 1.0 / 3, 1e-12);
  EXPECT_EQ(rounds[2], rounds[0]);
}

TEST(GossipGraphs, EigenvaluesOfAPath) {
  const Eigen eigen = eigen_of(3, {1, -1, 0, -1, 2, -1, 0, -1, 1});
  EXPECT_NEAR(eigen.values[0], 0, 1e-9);
  EXPECT_NEAR(eigen.values[1], 1, 1e-9);
  EXPECT_NEAR(eigen.values[2], 3, 1e-9);
}

TEST(GossipGraphs, MatchaGivesBridgesMoreOfTheBudget) {
  // Two triangles and a bridge between them.
  const Ties ties = {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {4, 5}, {3, 5}};
  const Matcha graph = matcha(6, ties, 0.5);
  double sum = 0, bridge = 0;
  for (std::size_t m = 0; m < graph.matchings.size(); ++m) {
    sum += graph.chances[m];
    for (const auto& tie : graph.matchings[m])
      if (tie == std::pair{2, 3}) bridge = graph.chances[m];
  }
  EXPECT_LE(sum, 0.5 * double(graph.matchings.size()) + 1e-6);
  EXPECT_GT(bridge, 0.6);
  EXPECT_LT(graph.decay, 1);
}

TEST(GossipGraphs, MatchaOfTwoIslandsByHand) {
  // One tie with chance p: E[W²] − J leaves 1 − 2α·2p + α²·4p = 1 − 4pα(1 − α): α = ½.
  const Matcha graph = matcha(2, {{0, 1}}, 0.5);
  EXPECT_NEAR(graph.chances[0], 0.5, 1e-6);
  EXPECT_NEAR(graph.weight, 0.5, 1e-9);
  EXPECT_NEAR(graph.decay, 0.5, 1e-9);
}

}  // namespace
}  // namespace cotillion
