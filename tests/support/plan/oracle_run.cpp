#include "tests/support/plan/oracle_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/support/plan/clp_oracle.hpp"
#include "tests/support/plan/instances.hpp"

namespace cotillion::testing {

std::string disagreement(std::uint64_t seed, OracleCount& count) {
  // CLP works to 1e-9 on each row; prices add up to n of them.
  constexpr double kAgree = 1e-7;
  const Instance instance = random_instance(seed);
  PriceScratch scratch;
  const CliquePrice ours = price_clique(instance.latencies, instance.demand, scratch);
  const auto theirs = clp_price(instance.latencies, instance.demand);
  const auto say = [&](const std::string& what) {
    return fmt::format("n = {}: {}; replay: build/release/oracle --instances 1 --seed {}",
                       instance.latencies.size(), what, seed);
  };
  if (ours.feasible != theirs.has_value())
    return say(fmt::format("we say {}feasible, CLP does not", ours.feasible ? "" : "in"));
  if (!ours.feasible) {
    ++count.infeasible;
    return ours.cycle_excess.ps > 0 ? "" : say("infeasible, but the cycle shown is no reason");
  }
  ++count.feasible;
  if (instance.latencies.size() == 1) return ours.price.ps == 0 ? "" : say("one island costs time");
  const double gap = std::fabs(ours.price.ps - theirs->ps) / theirs->ps;
  count.worst_relative_gap = std::max(count.worst_relative_gap, gap);
  if (gap > kAgree)
    return say(fmt::format("{} ms against CLP's {} ms", ours.price.ms(), theirs->ms()));
  const std::string broken = broken_constraint(instance, ours);
  return broken.empty() ? "" : say(broken);
}

}  // namespace cotillion::testing
