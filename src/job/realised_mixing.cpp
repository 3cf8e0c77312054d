#include "job/realised_mixing.hpp"

#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

using Matrix = std::vector<double>;
// Rows that agree go on as they are, whatever meets them: thousands of rounds need not be followed.
constexpr double kSettled = 1e-14;

Matrix product(const Matrix& a, const Matrix& b, std::size_t n) {
  Matrix c(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      if (a[i * n + k] != 0)
        for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  return c;
}

// e of a generation whose mixing so far is Φ.
RealisedLoss loss_of(const Matrix& phi, std::size_t n) {
  RealisedLoss loss;
  const double even = 1.0 / double(n);
  const double scale = 1.0 / (2.0 * double(n) - 2);
  for (std::size_t j = 0; j < n; ++j) {
    double mean = 0;
    for (std::size_t i = 0; i < n; ++i) mean += phi[i * n + j] * even;
    loss.drift += scale * double(n) * std::abs(mean - even);
    for (std::size_t i = 0; i < n; ++i) {
      loss.total += scale * std::abs(phi[i * n + j] - even);
      loss.disagreement += scale * std::abs(phi[i * n + j] - mean);
    }
  }
  return loss;
}

void add(RealisedLoss& loss, const RealisedLoss& more, double times) {
  loss.total += times * more.total;
  loss.disagreement += times * more.disagreement;
  loss.drift += times * more.drift;
}

}  // namespace

// Generation k is born at the end of round k and first meets round k + 1 (Equation sumloss has
// K rounds, generations 1 … K−1, and h up to K−k−1).
RealisedLoss realised_loss(const std::vector<std::vector<double>>& rounds, int islands) {
  const auto n = std::size_t(islands);
  RealisedLoss loss;
  if (n < 2) return loss;
  for (std::size_t k = 1; k < rounds.size(); ++k) {
    Matrix phi(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) phi[i * n + i] = 1;
    add(loss, loss_of(phi, n), 1);
    for (std::size_t h = 1; k + h < rounds.size(); ++h) {
      COTILLION_CHECK(rounds[k + h - 1].size() == n * n);
      phi = product(rounds[k + h - 1], phi, n);
      const RealisedLoss now = loss_of(phi, n);
      add(loss, now, 1);
      if (now.disagreement > kSettled) continue;
      add(loss, now, double(rounds.size() - k - h - 1));
      break;
    }
  }
  return loss;
}

}  // namespace cotillion
