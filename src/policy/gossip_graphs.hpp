// Who listens to whom in gossip algorithms, as mixing matrices: row-major, symmetric, doubly
// stochastic.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace cotillion {

using Matrix = std::vector<double>;  // n × n
using Ties = std::vector<std::pair<int, int>>;

// Metropolis weights on a graph: 1/(1 + the larger degree of the two), the rest on oneself.
[[nodiscard]] Matrix metropolis(int n, const Ties& ties);

// The simple Base-(k+1) graph of Takezawa and others (2023): a sequence in which nobody has more
// than k partners at once and whose product is the exact average, for any n.
[[nodiscard]] std::vector<Matrix> base_graph(int n, int k);

// MATCHA (Wang and others, 2019): the graph as matchings, each of which takes part in a round by
// chance, more often the more it connects, and the weight that mixes best.
struct Matcha {
  std::vector<Ties> matchings;
  std::vector<double> chances;  // by matching; their mean is the budget
  double weight = 0;            // α in W = I − α Σ Laplacians
  double decay = 0;             // of the expected squared disagreement in a round
};
[[nodiscard]] Matcha matcha(int n, const Ties& ties, double budget);
[[nodiscard]] Matrix gossip_mixing(int n, const Ties& active, double weight);

// Eigenvalues, ascending, and vectors (column j belongs to value j) of a symmetric matrix.
struct Eigen {
  std::vector<double> values;
  Matrix vectors;
};
[[nodiscard]] Eigen eigen_of(int n, Matrix symmetric);

}  // namespace cotillion
