#include "search/reach_bound.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

namespace cotillion {
namespace {

constexpr std::size_t kReachRoundsMost = 4096;

// Who is within h meetings of whom, as sets of bits.
class Balls {
 public:
  Balls(const Gathering& gathering, int n) : n_(n), words_((std::size_t(n) + 63) / 64) {
    near_.assign(std::size_t(n) * words_, 0);
    for (IslandId i = 0; i < n; ++i)
      for (IslandId j = 0; j < n; ++j)
        if (i == j || gathering.may_meet(i, j))
          near_[std::size_t(i) * words_ + std::size_t(j) / 64] |= std::uint64_t{1} << (j % 64);
    ball_ = near_;
    measure();
  }
  [[nodiscard]] int size(IslandId i) const { return sizes_[i]; }
  // Once everybody is within reach, or nobody reaches further, balls stay as they are.
  void grow() {
    if (settled_) return;
    std::vector<std::uint64_t> next(ball_.size(), 0);
    for (int i = 0; i < n_; ++i) {
      std::uint64_t* into = &next[std::size_t(i) * words_];
      if (sizes_[i] == n_) {
        std::copy_n(&ball_[std::size_t(i) * words_], words_, into);
        continue;
      }
      for (int j = 0; j < n_; ++j)
        if ((near_[std::size_t(i) * words_ + std::size_t(j) / 64] >> (j % 64) & 1) != 0)
          for (std::size_t w = 0; w < words_; ++w) into[w] |= ball_[std::size_t(j) * words_ + w];
    }
    settled_ = next == ball_;
    ball_.swap(next);
    measure();
  }

 private:
  void measure() {
    sizes_.assign(std::size_t(n_), 0);
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      for (std::size_t w = 0; w < words_; ++w) sizes_[i] += std::popcount(ball_[i * words_ + w]);
  }

  int n_;
  std::size_t words_;
  std::vector<std::uint64_t> near_, ball_;
  std::vector<int> sizes_;
  bool settled_ = false;
};

// The most that a clique around island i could know together.
double gathered(const Gathering& gathering, IslandId i, const std::vector<double>& known,
                const std::vector<IslandId>& best_first, double enough) {
  double most = known[i];
  for (int size = gathering.size_most(i); size > 1; --size) {
    if (known[i] + (size - 1) * known[best_first.front()] <= most) break;
    double sum = known[i];
    int left = size - 1;
    for (std::size_t k = 0; k < best_first.size() && left > 0; ++k) {
      const IslandId j = best_first[k];
      if (j == i || gathering.size_together(i, j) < size) continue;
      sum += known[j];
      --left;
    }
    if (left == 0) most = std::max(most, sum);
    if (most >= enough) break;
  }
  return most;
}

}  // namespace

ReachBound reach_bound(const Gathering& gathering, int island_count, bool squared) {
  const double n = island_count;
  Balls balls(gathering, island_count);
  std::vector<double> known(std::size_t(island_count), 1), next(known);
  std::vector<IslandId> best_first(known.size());
  std::iota(best_first.begin(), best_first.end(), IslandId(0));
  ReachBound bound;
  while (bound.survival.size() < kReachRoundsMost) {
    if (!bound.survival.empty()) balls.grow();
    std::stable_sort(best_first.begin(), best_first.end(),
                     [&](IslandId a, IslandId b) { return known[a] > known[b]; });
    double survival = 0, reached = 0;
    for (IslandId i = 0; i < island_count; ++i) {
      const double ball = balls.size(i);
      next[i] = std::min(ball, gathered(gathering, i, known, best_first, ball));
      survival += squared ? 1 / next[i] - 1 / n : (n - next[i]) / n;
      reached += next[i] / n / n;
    }
    if (survival <= 0) break;
    bound.survival.push_back(survival / (n - 1));
    bound.reached.push_back(reached);
    // Islands that no round of this price connects would stay apart for ever.
    if (next == known) break;
    known.swap(next);
  }
  return bound;
}

}  // namespace cotillion
