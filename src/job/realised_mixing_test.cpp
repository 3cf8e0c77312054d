#include "job/realised_mixing.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"

namespace cotillion {
namespace {

using Matrix = std::vector<double>;

// Equation sumloss as printed, every product in full.
RealisedLoss by_the_letter(const std::vector<Matrix>& rounds, std::size_t n) {
  RealisedLoss loss;
  for (std::size_t k = 1; k < rounds.size(); ++k)
    for (std::size_t h = 0; k + h < rounds.size(); ++h) {
      Matrix phi(n * n, 0);
      for (std::size_t i = 0; i < n; ++i) phi[i * n + i] = 1;
      for (std::size_t r = k; r < k + h; ++r) {
        Matrix next(n * n, 0);
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j)
            for (std::size_t m = 0; m < n; ++m)
              next[i * n + j] += rounds[r][i * n + m] * phi[m * n + j];
        phi = next;
      }
      for (std::size_t j = 0; j < n; ++j) {
        double mean = 0;
        for (std::size_t i = 0; i < n; ++i) mean += phi[i * n + j] / double(n);
        for (std::size_t i = 0; i < n; ++i) {
          const double scale = 1 / (2.0 * double(n) - 2);
          loss.total += scale * std::fabs(phi[i * n + j] - 1 / double(n));
          loss.disagreement += scale * std::fabs(phi[i * n + j] - mean);
          loss.drift += scale * std::fabs(mean - 1 / double(n));
        }
      }
    }
  return loss;
}

// Two pairs of four islands, the other two pairs, and so on: settled after two rounds.
std::vector<Matrix> two_by_two(std::size_t rounds) {
  const double h = 0.5;
  const Matrix a{h, h, 0, 0, h, h, 0, 0, 0, 0, h, h, 0, 0, h, h};
  const Matrix b{h, 0, h, 0, 0, h, 0, h, h, 0, h, 0, 0, h, 0, h};
  std::vector<Matrix> all;
  for (std::size_t k = 0; k < rounds; ++k) all.push_back(k % 2 == 0 ? a : b);
  return all;
}

void expect_same(const RealisedLoss& a, const RealisedLoss& b) {
  EXPECT_NEAR(a.total, b.total, 1e-9 * (1 + b.total));
  EXPECT_NEAR(a.disagreement, b.disagreement, 1e-9 * (1 + b.total));
  EXPECT_NEAR(a.drift, b.drift, 1e-9 * (1 + b.total));
}

TEST(RealisedLoss, IsEquationSumlossToTheLetter) {
  for (const std::size_t rounds : {0u, 1u, 2u, 3u, 7u, 20u})
    expect_same(realised_loss(two_by_two(rounds), 4), by_the_letter(two_by_two(rounds), 4));
}

TEST(RealisedLoss, OfRandomMatricesTooWhereRowsAddUpButColumnsDoNot) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const auto n = std::size_t(random.between(2, 6));
    std::vector<Matrix> rounds(std::size_t(random.between(2, 30)), Matrix(n * n));
    for (Matrix& matrix : rounds)
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j)
          sum += matrix[i * n + j] = double(random.between(0, 3)) + (i == j ? 1 : 0);
        for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] /= sum;
      }
    expect_same(realised_loss(rounds, int(n)), by_the_letter(rounds, n));
  }
}

TEST(RealisedLoss, ALossOnOneSideMovesTheMeanForGood) {
  std::vector<Matrix> rounds = two_by_two(8);
  rounds[1] = {1, 0, 0, 0, 0, 0.5, 0, 0.5, 0.5, 0, 0.5, 0, 0, 0.5, 0, 0.5};
  const RealisedLoss loss = realised_loss(rounds, 4);
  EXPECT_GT(loss.drift, 0.1);
  expect_same(loss, by_the_letter(rounds, 4));
  EXPECT_NEAR(realised_loss(two_by_two(8), 4).drift, 0, 1e-12);
}

TEST(RealisedLoss, ThousandsOfRoundsCostLittle) {
  // e(0) = 1 and e(1) = 2/3 of every generation that lives so long.
  const RealisedLoss loss = realised_loss(two_by_two(50'000), 4);
  EXPECT_NEAR(loss.total, 49'999 + 49'998 * 2.0 / 3, 1e-6);
  EXPECT_NEAR(loss.drift, 0, 1e-6);
}

}  // namespace
}  // namespace cotillion
