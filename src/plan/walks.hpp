// The max-plus algebra behind the price of a clique.
//
// The paper's memory constraint (Equation memoryconstraint) says that at every receiver i no
// stream may run ahead of another by more than M bytes: t_k ≥ t_j + ℓ_ij − ℓ_ik − M·u for
// every distinct i, j, k. For each pair (j, k) only the tightest receiver matters, so these
// are n(n−1) steps j→k of weight w_jk − M·u, and the least offsets are the longest walks over
// such steps. This file computes steps, walks and the worst cycle, in picoseconds held in
// doubles: sums of integers below 2^53, therefore exact.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace cotillion {

inline constexpr double kNoWalk = -std::numeric_limits<double>::infinity();

// Latencies inside one clique: at(i, j) is the time of flight to member i from member j.
class CliqueLatencies {
 public:
  CliqueLatencies() = default;
  explicit CliqueLatencies(int size) { resize(size); }
  void resize(int size) {
    size_ = size;
    ps_.assign(std::size_t(size) * size, 0);
  }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] double at(int to, int from) const { return ps_[std::size_t(to) * size_ + from]; }
  double& at(int to, int from) { return ps_[std::size_t(to) * size_ + from]; }
  [[nodiscard]] const double* row(int to) const { return &ps_[std::size_t(to) * size_]; }

 private:
  int size_ = 0;
  std::vector<double> ps_;
};

// w_jk at row j, column k: how much later than j member k must send so as not to run ahead of
// it at the receiver where that is hardest. Receiver i is given `allowance[i]` picoseconds of
// lead for nothing (its memory, at some pace) and does not count at all where that is infinite;
// an empty list means zero for everyone. kNoWalk where no receiver constrains the pair.
void step_weights(const CliqueLatencies& latencies, const std::vector<double>& allowance,
                  std::vector<double>& weights);

// The receiver that makes a step as heavy as it is.
[[nodiscard]] int tightest_receiver(const CliqueLatencies& latencies,
                                    const std::vector<double>& allowance, int leader, int waiter);

// Longest walks of exactly m steps that end at each member, m = 0…n.
class WalkTable {
 public:
  void build(int size, const std::vector<double>& weights);

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] double longest(int steps, int end) const {
    return longest_[std::size_t(steps) * size_ + end];
  }
  // The members along a longest walk, first to last: steps + 1 of them.
  [[nodiscard]] std::vector<int> walk(int steps, int end, const std::vector<double>& weights) const;

 private:
  int size_ = 0;
  std::vector<double> longest_;
};

// The largest mean weight of a cycle, as an exact fraction (Karp). length 0: there is no cycle.
struct CycleMean {
  std::int64_t sum = 0;
  int length = 0;
  int through = -1;  // an n-step walk that ends here goes round the cycle

  [[nodiscard]] bool positive() const { return length > 0 && sum > 0; }
  [[nodiscard]] double value() const { return length > 0 ? double(sum) / length : kNoWalk; }
};
[[nodiscard]] CycleMean worst_cycle(const WalkTable& table);

// The members of a heaviest cycle on a walk, in order of travel; the first is not repeated.
[[nodiscard]] std::vector<int> cycle_on(const std::vector<int>& walk,
                                        const std::vector<double>& weights, int size);

}  // namespace cotillion
