// Cutting planes in one variable. At a pace u the steps weigh max_i (ℓ_ij − ℓ_ik − M_i·u), and
// one longest-walk pass yields either a positive cycle, a lower bound on u (Σ differences ≤
// Σ M·u along it), or the walk that sets z(u), a line below the convex z everywhere. Newton
// steps over cycles reach the least feasible pace from below; then the lines of two walks, one
// falling and one rising, are crossed until their crossing lies on z. Every line has integer
// coefficients from a finite set and each step uses a new one, so both loops end.
#include "plan/unequal_memory.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr int kStepsMax = 100'000;

struct Line {
  double intercept = 0;  // picoseconds
  double slope = 0;      // bytes
  [[nodiscard]] double at(double pace) const { return intercept + slope * pace; }
};

class Cutter {
 public:
  Cutter(const CliqueLatencies& latencies, const Demand& demand, PriceScratch& scratch)
      : latencies_(latencies), demand_(demand), scratch_(scratch), n_(latencies.size()) {
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j) scale_ = std::max(scale_, latencies.at(i, j));
  }

  // Builds the walks at this pace.
  void visit(double pace) {
    allowance_.resize(n_);
    for (int i = 0; i < n_; ++i)
      allowance_[i] = std::isinf(demand_.memory[i]) ? kUnlimited : demand_.memory[i] * pace;
    step_weights(latencies_, allowance_, scratch_.weights);
    scratch_.walks.build(n_, scratch_.weights);
  }

  // The pace at which the cycle found at this one stops being positive; 0 if there is none.
  [[nodiscard]] double pace_demanded_by_cycle() const {
    int end = -1;
    double gain = rounding();
    for (int k = 0; k < n_; ++k) {
      double before = kNoWalk;
      for (int m = 0; m < n_; ++m) before = std::max(before, scratch_.walks.longest(m, k));
      const double more = scratch_.walks.longest(n_, k) - before;
      if (more > gain) {
        gain = more;
        end = k;
      }
    }
    if (end < 0) return 0;
    std::vector<int> cycle =
        cycle_on(scratch_.walks.walk(n_, end, scratch_.weights), scratch_.weights, n_);
    cycle.push_back(cycle.front());
    const Line line = along(cycle);
    return line.slope < 0 ? line.intercept / -line.slope : 0;
  }

  // The line of the walk that sets z at this pace; among equals the one of largest slope.
  [[nodiscard]] Line ruling_line() const {
    Line best;
    double height = kNoWalk;
    for (int k = 0; k < n_; ++k) {
      double flight = 0;
      for (int i = 0; i < n_; ++i)
        if (i != k) flight = std::max(flight, latencies_.at(i, k));
      for (int m = 0; m < n_; ++m) {
        const double value = scratch_.walks.longest(m, k) + flight;
        if (value <= height) continue;
        height = value;
        best = along(scratch_.walks.walk(m, k, scratch_.weights));
        best.intercept += flight;
      }
    }
    best.slope += demand_.payload;
    return best;
  }

  // The line above which everything lies at an infinite pace: no step matters there.
  [[nodiscard]] Line flight_line() const { return {scale_, demand_.payload}; }
  [[nodiscard]] double rounding() const { return scale_ * 1e-12; }

 private:
  [[nodiscard]] Line along(const std::vector<int>& walk) const {
    Line line;
    for (std::size_t m = 1; m < walk.size(); ++m) {
      const int i = tightest_receiver(latencies_, allowance_, walk[m - 1], walk[m]);
      line.intercept += latencies_.at(i, walk[m - 1]) - latencies_.at(i, walk[m]);
      line.slope -= demand_.memory[i];
    }
    return line;
  }

  const CliqueLatencies& latencies_;
  const Demand& demand_;
  PriceScratch& scratch_;
  int n_;
  double scale_ = 0;  // the longest flight
  std::vector<double> allowance_;
};

}  // namespace

double best_pace_unequal(const CliqueLatencies& latencies, const Demand& demand,
                         PriceScratch& scratch) {
  Cutter cutter(latencies, demand, scratch);
  double pace = demand.pace_least;
  cutter.visit(pace);
  for (int step = 0;; ++step) {
    COTILLION_CHECK(step < kStepsMax);
    const double demanded = cutter.pace_demanded_by_cycle();
    if (demanded <= pace) break;
    pace = demanded;
    cutter.visit(pace);
  }

  Line falling = cutter.ruling_line();
  if (falling.slope >= 0) return pace;
  Line rising = cutter.flight_line();
  for (int step = 0;; ++step) {
    COTILLION_CHECK(step < kStepsMax);
    const double crossing = (falling.intercept - rising.intercept) / (rising.slope - falling.slope);
    if (crossing <= pace) return pace;
    cutter.visit(crossing);
    const Line ruling = cutter.ruling_line();
    if (ruling.at(crossing) <= rising.at(crossing) + cutter.rounding()) return crossing;
    (ruling.slope < 0 ? falling : rising) = ruling;
  }
}

}  // namespace cotillion
