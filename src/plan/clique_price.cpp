#include "plan/clique_price.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "plan/unequal_memory.hpp"

namespace cotillion {
namespace {

// Sums of n latencies stay integers in a double below this.
constexpr double kExact = 9007199254740992.0;

void check_exact(const CliqueLatencies& latencies) {
  double longest = 0;
  for (int i = 0; i < latencies.size(); ++i)
    for (int j = 0; j < latencies.size(); ++j) longest = std::max(longest, latencies.at(i, j));
  COTILLION_CHECK(longest * (latencies.size() + 1) < kExact);
}

double longest_flight(const CliqueLatencies& latencies, int from) {
  double longest = 0;
  for (int i = 0; i < latencies.size(); ++i)
    if (i != from) longest = std::max(longest, latencies.at(i, from));
  return longest;
}

int farthest_receiver(const CliqueLatencies& latencies, int from) {
  int farthest = -1;
  for (int i = 0; i < latencies.size(); ++i)
    if (i != from && (farthest < 0 || latencies.at(i, from) > latencies.at(farthest, from)))
      farthest = i;
  return farthest;
}

std::vector<ChainStep> steps_of(const std::vector<int>& walk, const CliqueLatencies& latencies,
                                const std::vector<double>& allowance) {
  std::vector<ChainStep> steps;
  for (std::size_t m = 1; m < walk.size(); ++m)
    steps.push_back(
        {walk[m - 1], walk[m], tightest_receiver(latencies, allowance, walk[m - 1], walk[m])});
  return steps;
}

// Offsets and the reason, once the pace is known: the longest walks at that pace.
void settle(const CliqueLatencies& latencies, const Demand& demand, PriceScratch& scratch,
            CliquePrice& price) {
  const int n = latencies.size();
  std::vector<double> allowance(n);
  for (int i = 0; i < n; ++i)
    allowance[i] = std::isinf(demand.memory[i]) ? kUnlimited : demand.memory[i] * price.pace;
  step_weights(latencies, allowance, scratch.weights);
  scratch.walks.build(n, scratch.weights);

  double latest = -1;
  int chain_steps = 0;
  for (int k = 0; k < n; ++k) {
    double offset = 0;
    int steps = 0;
    for (int m = 1; m < n; ++m)
      if (scratch.walks.longest(m, k) > offset) {
        offset = scratch.walks.longest(m, k);
        steps = m;
      }
    price.offsets.push_back(RealDuration::from_ps(offset));
    if (offset + longest_flight(latencies, k) > latest) {
      latest = offset + longest_flight(latencies, k);
      price.last_sender = k;
      chain_steps = steps;
    }
  }
  price.price = RealDuration::from_ps(latest + demand.payload * price.pace);
  price.last_receiver = farthest_receiver(latencies, price.last_sender);
  price.chain = steps_of(scratch.walks.walk(chain_steps, price.last_sender, scratch.weights),
                         latencies, allowance);
}

// Cycles among receivers with no memory at all cannot be slowed away: exact integers decide.
bool refuse_if_impossible(const CliqueLatencies& latencies, const Demand& demand,
                          PriceScratch& scratch, CliquePrice& price) {
  const int n = latencies.size();
  std::vector<double> allowance(n, kUnlimited);
  bool any = false;
  for (int i = 0; i < n; ++i)
    if (demand.memory[i] == 0) {
      allowance[i] = 0;
      any = true;
    }
  if (!any) return false;
  step_weights(latencies, allowance, scratch.weights);
  scratch.walks.build(n, scratch.weights);
  const CycleMean worst = worst_cycle(scratch.walks);
  if (!worst.positive()) return false;
  std::vector<int> cycle =
      cycle_on(scratch.walks.walk(n, worst.through, scratch.weights), scratch.weights, n);
  cycle.push_back(cycle.front());
  price.cycle = steps_of(cycle, latencies, allowance);
  for (const ChainStep& step : price.cycle)
    price.cycle_excess.ps += std::int64_t(latencies.at(step.receiver, step.leader) -
                                          latencies.at(step.receiver, step.waiter));
  return true;
}

}  // namespace

CliqueShape shape_of(const CliqueLatencies& latencies, const std::vector<bool>& counts,
                     PriceScratch& scratch) {
  const int n = latencies.size();
  check_exact(latencies);
  std::vector<double> allowance;
  for (const bool has_edge : counts) allowance.push_back(has_edge ? 0 : kUnlimited);
  step_weights(latencies, allowance, scratch.weights);
  scratch.walks.build(n, scratch.weights);

  CliqueShape shape;
  shape.size = n;
  shape.cycle = worst_cycle(scratch.walks);
  shape.reach.assign(n, kNoWalk);
  for (int k = 0; k < n; ++k) {
    const double flight = longest_flight(latencies, k);
    for (int m = 0; m < n; ++m)
      shape.reach[m] = std::max(shape.reach[m], flight + scratch.walks.longest(m, k));
  }
  return shape;
}

Pace best_pace(const CliqueShape& shape, double payload, double memory, double pace_least) {
  if (shape.size <= 1) return {true, pace_least, 0, 0};
  if (std::isinf(memory)) return {true, pace_least, shape.reach[0] + payload * pace_least, 0};
  double pace = pace_least;
  if (shape.cycle.positive()) {
    if (memory == 0) return {};
    pace = std::max(pace, shape.cycle.value() / memory);
  }
  // Walk the envelope to the right from the least feasible pace, line by line, for as long as
  // it falls. Among lines of equal height the steepest is the one that rules to the right.
  int active = 0;
  double height = kNoWalk;
  for (int m = shape.size - 1; m >= 0; --m) {
    const double value = shape.reach[m] - m * memory * pace;
    if (value >= height) {
      height = value;
      active = m;
    }
  }
  while (active > 0 && payload < active * memory) {
    int next = -1;
    double crossing = std::numeric_limits<double>::infinity();
    for (int m = active - 1; m >= 0; --m) {
      const double at = (shape.reach[active] - shape.reach[m]) / ((active - m) * memory);
      if (at <= crossing) {
        crossing = at;
        next = m;
      }
    }
    pace = std::max(pace, crossing);
    active = next;
  }
  return {true, pace, payload * pace + shape.reach[active] - active * memory * pace, active};
}

CliquePrice price_clique(const CliqueLatencies& latencies, const Demand& demand,
                         PriceScratch& scratch) {
  const int n = latencies.size();
  COTILLION_CHECK(n >= 1 && int(demand.memory.size()) == n);
  check_exact(latencies);
  CliquePrice price;
  price.pace = demand.pace_least;
  if (n == 1) {
    price.feasible = true;
    price.offsets.resize(1);
    return price;
  }
  if (refuse_if_impossible(latencies, demand, scratch, price)) return price;

  std::vector<bool> counts(n);
  double least = kUnlimited, most = 0;
  for (int i = 0; i < n; ++i) {
    counts[i] = !std::isinf(demand.memory[i]);
    if (!counts[i]) continue;
    least = std::min(least, demand.memory[i]);
    most = std::max(most, demand.memory[i]);
  }
  if (std::isinf(least) || least == most) {
    const CliqueShape shape = shape_of(latencies, counts, scratch);
    price.pace = best_pace(shape, demand.payload, least, demand.pace_least).pace;
  } else {
    price.pace = best_pace_unequal(latencies, demand, scratch);
  }
  price.feasible = true;
  price.throttled = price.pace > demand.pace_least;
  settle(latencies, demand, scratch, price);
  return price;
}

}  // namespace cotillion
