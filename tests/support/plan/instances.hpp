// Random cliques to price, from a seed. Shared by the property tests, the long oracle run and
// the benchmark, so that a failure in one replays in the others.
#pragma once

#include <string>

#include "base/random.hpp"
#include "plan/clique_price.hpp"

namespace cotillion::testing {

enum class Latencies { kSymmetric, kAsymmetric, kMetric, kDegenerate };

struct Instance {
  CliqueLatencies latencies;
  Demand demand;
};

// n = 1…14, all kinds of latencies, equal and unequal memories from zero, payloads from 1 MB to
// 10 GB; every choice follows from the seed.
[[nodiscard]] Instance random_instance(std::uint64_t seed);

// A clique of n islands on a metric map with moderate memory.
[[nodiscard]] Instance instance_of_size(int size, std::uint64_t seed);

// "" when every constraint of the paper's program holds for this answer; else what does not.
[[nodiscard]] std::string broken_constraint(const Instance& instance, const CliquePrice& price);

}  // namespace cotillion::testing
