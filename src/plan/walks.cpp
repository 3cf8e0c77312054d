#include "plan/walks.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/wide.hpp"

namespace cotillion {

void step_weights(const CliqueLatencies& latencies, const std::vector<double>& allowance,
                  std::vector<double>& weights) {
  const int n = latencies.size();
  weights.assign(std::size_t(n) * n, kNoWalk);
  for (int i = 0; i < n; ++i) {
    const double lead = allowance.empty() ? 0 : allowance[i];
    if (std::isinf(lead)) continue;
    const double* flight = latencies.row(i);
    for (int j = 0; j < n; ++j) {
      if (j == i) continue;
      const double from_leader = flight[j] - lead;
      double* row = &weights[std::size_t(j) * n];
      // Branch-free on purpose: column i is not a pair with receiver i, and is restored.
      const double own = row[i];
      for (int k = 0; k < n; ++k) row[k] = std::max(row[k], from_leader - flight[k]);
      row[i] = own;
    }
  }
  for (int j = 0; j < n; ++j) weights[std::size_t(j) * n + j] = kNoWalk;
}

int tightest_receiver(const CliqueLatencies& latencies, const std::vector<double>& allowance,
                      int leader, int waiter) {
  int tightest = -1;
  double most = kNoWalk;
  for (int i = 0; i < latencies.size(); ++i) {
    const double lead = allowance.empty() ? 0 : allowance[i];
    if (i == leader || i == waiter || std::isinf(lead)) continue;
    const double weight = latencies.at(i, leader) - lead - latencies.at(i, waiter);
    if (weight > most) {
      most = weight;
      tightest = i;
    }
  }
  COTILLION_CHECK(tightest >= 0);
  return tightest;
}

void WalkTable::build(int size, const std::vector<double>& weights) {
  size_ = size;
  const std::size_t n = std::size_t(size);
  longest_.resize((n + 1) * n);
  std::fill_n(longest_.begin(), n, 0.0);
  for (std::size_t m = 1; m <= n; ++m) {
    const double* before = &longest_[(m - 1) * n];
    double* after = &longest_[m * n];
    std::fill_n(after, n, kNoWalk);
    for (std::size_t j = 0; j < n; ++j) {
      const double start = before[j];
      const double* row = &weights[j * n];
      for (std::size_t k = 0; k < n; ++k) after[k] = std::max(after[k], start + row[k]);
    }
  }
}

std::vector<int> WalkTable::walk(int steps, int end, const std::vector<double>& weights) const {
  COTILLION_CHECK(longest(steps, end) > kNoWalk);
  std::vector<int> members{end};
  for (int m = steps; m > 0; --m) {
    const int k = members.back();
    int leader = -1;
    for (int j = 0; j < size_ && leader < 0; ++j)
      if (longest(m - 1, j) + weights[std::size_t(j) * size_ + k] == longest(m, k)) leader = j;
    COTILLION_CHECK(leader >= 0);
    members.push_back(leader);
  }
  std::reverse(members.begin(), members.end());
  return members;
}

CycleMean worst_cycle(const WalkTable& table) {
  const int n = table.size();
  const auto larger = [](const CycleMean& a, const CycleMean& b) {
    return Int128(a.sum) * b.length > Int128(b.sum) * a.length;
  };
  CycleMean worst;
  for (int k = 0; k < n; ++k) {
    const double full = table.longest(n, k);
    if (full == kNoWalk) continue;
    CycleMean least;
    for (int m = 0; m < n; ++m) {
      const double part = table.longest(m, k);
      if (part == kNoWalk) continue;
      const CycleMean mean{std::int64_t(full - part), n - m, k};
      if (least.length == 0 || larger(least, mean)) least = mean;
    }
    if (worst.length == 0 || larger(least, worst)) worst = least;
  }
  return worst;
}

std::vector<int> cycle_on(const std::vector<int>& walk, const std::vector<double>& weights,
                          int size) {
  std::vector<int> best;
  double best_mean = kNoWalk;
  for (std::size_t a = 0; a < walk.size(); ++a) {
    double sum = 0;
    for (std::size_t b = a + 1; b < walk.size(); ++b) {
      sum += weights[std::size_t(walk[b - 1]) * size + walk[b]];
      if (walk[b] != walk[a]) continue;
      const double mean = sum / double(b - a);
      if (mean > best_mean) {
        best_mean = mean;
        best.assign(walk.begin() + std::ptrdiff_t(a), walk.begin() + std::ptrdiff_t(b));
      }
      break;
    }
  }
  COTILLION_CHECK(!best.empty());
  return best;
}

}  // namespace cotillion
