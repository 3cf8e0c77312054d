#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "policy/gossip_graphs.hpp"

namespace cotillion {
namespace {

constexpr int kAscents = 400;
constexpr int kWeightsTried = 200;

// Greedy: ties of the busiest islands first, each into the first matching that has room.
std::vector<Ties> matchings_of(int n, Ties ties) {
  std::vector<int> degree(std::size_t(n), 0);
  for (const auto& [a, b] : ties) {
    ++degree[std::size_t(a)];
    ++degree[std::size_t(b)];
  }
  std::stable_sort(ties.begin(), ties.end(), [&](const auto& x, const auto& y) {
    return degree[std::size_t(x.first)] + degree[std::size_t(x.second)] >
           degree[std::size_t(y.first)] + degree[std::size_t(y.second)];
  });
  std::vector<Ties> matchings;
  std::vector<std::set<int>> taken;
  for (const auto& tie : ties) {
    std::size_t m = 0;
    while (m < matchings.size() && (taken[m].contains(tie.first) || taken[m].contains(tie.second)))
      ++m;
    if (m == matchings.size()) {
      matchings.emplace_back();
      taken.emplace_back();
    }
    matchings[m].push_back(tie);
    taken[m].insert({tie.first, tie.second});
  }
  return matchings;
}

void add_laplacian(Matrix& matrix, int n, const Ties& ties, double factor) {
  const Matrix mixing = gossip_mixing(n, ties, factor);  // I − factor·L
  for (int i = 0; i < n * n; ++i)
    matrix[std::size_t(i)] += (i % (n + 1) == 0 ? 1.0 : 0.0) - mixing[std::size_t(i)];
}

// The nearest chances between 0 and 1 that add up to at most `sum`.
void project(std::vector<double>& chances, double sum) {
  const auto total = [&](double shift) {
    double t = 0;
    for (const double c : chances) t += std::clamp(c - shift, 0.0, 1.0);
    return t;
  };
  double low = 0, high = 0;
  for (const double c : chances) high = std::max(high, c);
  if (total(0) > sum)
    for (int i = 0; i < 100; ++i) (total((low + high) / 2) > sum ? low : high) = (low + high) / 2;
  else
    high = 0;
  for (double& c : chances) c = std::clamp(c - high, 0.0, 1.0);
}

// Of E[W²] − J: how much of the squared disagreement is expected to survive a round.
double decay_of(int n, const Matcha& graph, double weight) {
  Matrix mean(std::size_t(n) * std::size_t(n), 0.0), spread = mean;
  for (std::size_t m = 0; m < graph.matchings.size(); ++m) {
    const double p = graph.chances[m];
    add_laplacian(mean, n, graph.matchings[m], p);
    add_laplacian(spread, n, graph.matchings[m], 2 * p * (1 - p));  // L² = 2L for a matching
  }
  Matrix all(mean.size());
  const auto entry = [n](int i, int j) { return std::size_t(i) * std::size_t(n) + std::size_t(j); };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double square = 0;
      for (int k = 0; k < n; ++k) square += mean[entry(i, k)] * mean[entry(k, j)];
      const std::size_t at = entry(i, j);
      all[at] = (i == j ? 1.0 : 0.0) - 1.0 / n - 2 * weight * mean[at] +
                weight * weight * (square + spread[at]);
    }
  const Eigen eigen = eigen_of(n, std::move(all));
  return std::max(std::abs(eigen.values.front()), std::abs(eigen.values.back()));
}

}  // namespace

// Jacobi's rotations: slow, and exact enough for tens of islands.
Eigen eigen_of(int n, Matrix a) {
  const auto at = [n](int i, int j) { return std::size_t(i) * std::size_t(n) + std::size_t(j); };
  Matrix v(a.size(), 0.0);
  for (int i = 0; i < n; ++i) v[at(i, i)] = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        off += a[at(p, q)] * a[at(p, q)];
        if (std::abs(a[at(p, q)]) < 1e-300) continue;
        const double theta = (a[at(q, q)] - a[at(p, p)]) / (2 * a[at(p, q)]);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < n; ++k) {
          const double x = a[at(k, p)], y = a[at(k, q)];
          a[at(k, p)] = c * x - s * y;
          a[at(k, q)] = s * x + c * y;
        }
        for (int k = 0; k < n; ++k) {
          const double x = a[at(p, k)], y = a[at(q, k)];
          a[at(p, k)] = c * x - s * y;
          a[at(q, k)] = s * x + c * y;
        }
        for (int k = 0; k < n; ++k) {
          const double x = v[at(k, p)], y = v[at(k, q)];
          v[at(k, p)] = c * x - s * y;
          v[at(k, q)] = s * x + c * y;
        }
      }
    if (off < 1e-24) break;
  }
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return a[at(i, i)] < a[at(j, j)]; });
  Eigen eigen;
  eigen.vectors.resize(a.size());
  for (int j = 0; j < n; ++j) {
    eigen.values.push_back(a[at(order[std::size_t(j)], order[std::size_t(j)])]);
    for (int i = 0; i < n; ++i) eigen.vectors[at(i, j)] = v[at(i, order[std::size_t(j)])];
  }
  return eigen;
}

// Chances that make the second eigenvalue of the mean Laplacian largest: its gradient by a chance
// is vᵀLv of that matching, v its vector. Then the weight that leaves least.
Matcha matcha(int n, const Ties& ties, double budget) {
  Matcha graph;
  graph.matchings = matchings_of(n, ties);
  const double sum = budget * double(graph.matchings.size());
  graph.chances.assign(graph.matchings.size(), budget);
  std::vector<double> best = graph.chances;
  double largest = -1;
  for (int ascent = 0; ascent < kAscents; ++ascent) {
    Matrix mean(std::size_t(n) * std::size_t(n), 0.0);
    for (std::size_t m = 0; m < graph.matchings.size(); ++m)
      add_laplacian(mean, n, graph.matchings[m], graph.chances[m]);
    const Eigen eigen = eigen_of(n, mean);
    if (n > 1 && eigen.values[1] > largest) {
      largest = eigen.values[1];
      best = graph.chances;
    }
    for (std::size_t m = 0; n > 1 && m < graph.matchings.size(); ++m) {
      double slope = 0;
      for (const auto& [a, b] : graph.matchings[m]) {
        const double difference = eigen.vectors[std::size_t(a) * std::size_t(n) + 1] -
                                  eigen.vectors[std::size_t(b) * std::size_t(n) + 1];
        slope += difference * difference;
      }
      graph.chances[m] += 0.5 / std::sqrt(ascent + 1.0) * slope;
    }
    project(graph.chances, sum);
  }
  graph.chances = best;
  graph.decay = 2;
  for (int w = 1; w <= kWeightsTried; ++w) {
    const double weight = double(w) / kWeightsTried;
    const double decay = decay_of(n, graph, weight);
    if (decay >= graph.decay) continue;
    graph.decay = decay;
    graph.weight = weight;
  }
  return graph;
}

}  // namespace cotillion
