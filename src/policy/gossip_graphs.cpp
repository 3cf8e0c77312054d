#include "policy/gossip_graphs.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace cotillion {
namespace {

using Group = std::vector<int>;

Matrix nobody(int n) {
  return Matrix(std::size_t(n) * std::size_t(n), 0.0);
}
double& entry(Matrix& matrix, int n, int i, int j) {
  return matrix[std::size_t(i) * std::size_t(n) + std::size_t(j)];
}
void average(Matrix& matrix, int n, const Group& group) {
  for (const int i : group)
    for (const int j : group) entry(matrix, n, i, j) = 1.0 / double(group.size());
}

// Factors of at most k + 1, or none where a prime factor is larger.
std::vector<int> small_factors(int n, int k) {
  std::vector<int> factors;
  for (int f = k + 1; f >= 2; --f)
    while (n % f == 0) {
      factors.push_back(f);
      n /= f;
    }
  return n == 1 ? factors : std::vector<int>{};
}

// Rounds of disjoint groups over a product grid of these members: digit by digit.
std::vector<std::vector<Group>> hypercube(const Group& members, int k) {
  std::vector<std::vector<Group>> rounds;
  int stride = 1;
  for (const int sides : small_factors(int(members.size()), k)) {
    std::vector<Group> groups;
    for (int i = 0; i < int(members.size()); ++i)
      if (i / stride % sides == 0) {
        groups.emplace_back();
        for (int d = 0; d < sides; ++d) {
          const int member = i + d * stride;
          groups.back().push_back(members[std::size_t(member)]);
        }
      }
    rounds.push_back(std::move(groups));
    stride *= sides;
  }
  return rounds;
}

// n in base k + 1, highest digit first: digit a of power p becomes a·(k+1)^p members, in a equal
// parts.
struct Block {
  Group members;
  std::vector<Group> parts;
};
std::vector<Block> blocks_of(int n, int k) {
  int power = 1;
  while (power * (k + 1) <= n) power *= k + 1;
  std::vector<Block> blocks;
  int next = 0;
  for (; power >= 1; power /= k + 1) {
    const int digit = (n - next) / power;
    if (digit == 0) continue;
    Block block;
    for (int part = 0; part < digit; ++part) {
      block.parts.emplace_back(std::size_t(power));
      std::iota(block.parts.back().begin(), block.parts.back().end(), next);
      next += power;
      block.members.insert(block.members.end(), block.parts.back().begin(),
                           block.parts.back().end());
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

// What a row does not give to others stays with itself.
void keep_the_rest(Matrix& matrix, int n) {
  for (int i = 0; i < n; ++i) {
    double others = 0;
    for (int j = 0; j < n; ++j)
      if (j != i) others += entry(matrix, n, i, j);
    entry(matrix, n, i, i) = 1 - others;
  }
}

// Where n has no small factors. First every block averages within itself, all at once. Then the
// blocks are served one after the other, largest first: one member of each of its parts meets each
// member of all later blocks, so that the later blocks hold the average of everyone left, and the
// block holds in sum what it should. A block that has been served averages within its parts while
// later ones are served.
class BlockRounds {
 public:
  BlockRounds(int n, int k)
      : n_(n),
        k_(k),
        blocks_(blocks_of(n, k)),
        first_(hypercube(blocks_[0].members, k).size()),
        served_(blocks_.size(), 0) {}

  std::vector<Matrix> all() {
    std::vector<Matrix> rounds;
    const std::size_t last = hypercube(blocks_[0].parts[0], k_).size();
    for (std::size_t m = 0; served_[0] < last || m < first_ + blocks_.size() - 1; ++m) {
      rounds.push_back(nobody(n_));
      fill(rounds.back(), m);
      keep_the_rest(rounds.back(), n_);
    }
    return rounds;
  }

 private:
  void fill(Matrix& matrix, std::size_t m) {
    if (m < first_) {
      for (const Block& block : blocks_) average_within(matrix, block.members, m);
      return;
    }
    const std::size_t q = m - first_;  // the block being served
    for (std::size_t b = 0; b < std::min(q, blocks_.size()); ++b) {
      for (const Group& part : blocks_[b].parts) average_within(matrix, part, served_[b]);
      ++served_[b];
    }
    if (q + 1 < blocks_.size()) serve(matrix, q);
  }
  void average_within(Matrix& matrix, const Group& members, std::size_t round) const {
    const auto own = hypercube(members, k_);
    if (own.empty()) return;
    for (const Group& group : own[round % own.size()]) average(matrix, n_, group);
  }
  void serve(Matrix& matrix, std::size_t q) const {
    double left = 0;
    for (std::size_t b = q; b < blocks_.size(); ++b) left += double(blocks_[b].members.size());
    const double weight =
        double(blocks_[q].members.size()) / left / double(blocks_[q].parts.size());
    std::size_t next = 0;
    for (std::size_t b = q + 1; b < blocks_.size(); ++b)
      for (const int i : blocks_[b].members) {
        for (const Group& part : blocks_[q].parts) {
          entry(matrix, n_, i, part[next]) = weight;
          entry(matrix, n_, part[next], i) = weight;
        }
        ++next;
      }
  }

  const int n_, k_;
  const std::vector<Block> blocks_;
  const std::size_t first_;          // rounds in which all blocks average within themselves
  std::vector<std::size_t> served_;  // by block: rounds since it was served
};

}  // namespace

Matrix metropolis(int n, const Ties& ties) {
  std::vector<int> degree(std::size_t(n), 0);
  for (const auto& [a, b] : ties) {
    ++degree[std::size_t(a)];
    ++degree[std::size_t(b)];
  }
  Matrix matrix = nobody(n);
  for (int i = 0; i < n; ++i) entry(matrix, n, i, i) = 1;
  for (const auto& [a, b] : ties) {
    const double weight = 1.0 / (1 + std::max(degree[std::size_t(a)], degree[std::size_t(b)]));
    entry(matrix, n, a, b) += weight;
    entry(matrix, n, b, a) += weight;
    entry(matrix, n, a, a) -= weight;
    entry(matrix, n, b, b) -= weight;
  }
  return matrix;
}

std::vector<Matrix> base_graph(int n, int k) {
  COTILLION_CHECK(n >= 1 && k >= 1);
  if (n > 1 && small_factors(n, k).empty()) return BlockRounds(n, k).all();
  std::vector<Matrix> rounds;
  Group all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  for (const auto& groups : hypercube(all, k)) {
    rounds.push_back(nobody(n));
    for (const Group& group : groups) average(rounds.back(), n, group);
    keep_the_rest(rounds.back(), n);
  }
  if (rounds.empty()) {
    rounds.push_back(nobody(n));
    keep_the_rest(rounds.back(), n);
  }
  return rounds;
}

Matrix gossip_mixing(int n, const Ties& active, double weight) {
  Matrix matrix = nobody(n);
  for (int i = 0; i < n; ++i) entry(matrix, n, i, i) = 1;
  for (const auto& [a, b] : active) {
    entry(matrix, n, a, b) += weight;
    entry(matrix, n, b, a) += weight;
    entry(matrix, n, a, a) -= weight;
    entry(matrix, n, b, b) -= weight;
  }
  return matrix;
}

}  // namespace cotillion
