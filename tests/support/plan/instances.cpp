#include "tests/support/plan/instances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace cotillion::testing {
namespace {

// Latencies are whole multiples of `grain` up to 150 ms, so ties happen when it is coarse.
double random_latency(Random& random, std::int64_t grain) {
  return double(random.between(0, 150'000'000'000 / grain) * grain);
}

void fill_metric(CliqueLatencies& latencies, Random& random) {
  // Points on a plane, fibre between them, rounded to nanoseconds.
  const int n = latencies.size();
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < n; ++i) points.emplace_back(random.unit(), random.unit());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double km = 15'000 * std::hypot(points[i].first - points[j].first,
                                            points[i].second - points[j].second);
      latencies.at(i, j) = i == j ? 0 : std::round(km * 5'000) * 1e3;
    }
}

void fill(CliqueLatencies& latencies, Latencies kind, Random& random) {
  const int n = latencies.size();
  if (kind == Latencies::kMetric) return fill_metric(latencies, random);
  const std::int64_t grain = kind == Latencies::kDegenerate ? 50'000'000'000 : 100'000'000;
  const bool symmetric = kind != Latencies::kAsymmetric &&
                         (kind != Latencies::kDegenerate || random.between(0, 1) == 0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (i == j) continue;
      latencies.at(i, j) = symmetric && j < i ? latencies.at(j, i) : random_latency(random, grain);
    }
}

double random_memory(Random& random, double payload) {
  switch (random.between(0, 5)) {
    case 0:
      return 0;
    case 1:
      return payload * 4 * random.unit();
    case 2:
      return kUnlimited;
    default:
      return std::floor(payload * std::pow(10.0, -4 * random.unit()));
  }
}

}  // namespace

Instance random_instance(std::uint64_t seed) {
  Random random(seed);
  Instance instance;
  const int n = int(random.between(1, 14));
  instance.latencies.resize(n);
  fill(instance.latencies, Latencies(random.between(0, 3)), random);
  instance.demand.payload = std::floor(1e6 * std::pow(10.0, 4 * random.unit()));
  const double gbps = std::pow(10.0, 2.3 * random.unit());
  instance.demand.pace_least = 8e3 / gbps;
  const bool equal = random.between(0, 1) == 0;
  const double memory = random_memory(random, instance.demand.payload);
  for (int i = 0; i < n; ++i)
    instance.demand.memory.push_back(equal ? memory
                                           : random_memory(random, instance.demand.payload));
  return instance;
}

Instance instance_of_size(int size, std::uint64_t seed) {
  Random random(seed);
  Instance instance;
  instance.latencies.resize(size);
  fill_metric(instance.latencies, random);
  instance.demand.payload = 1e9;
  instance.demand.pace_least = 400;
  instance.demand.memory.assign(size, 5e7);
  return instance;
}

std::string broken_constraint(const Instance& instance, const CliquePrice& price) {
  const int n = instance.latencies.size();
  const Demand& demand = instance.demand;
  const double u = price.pace;
  const double rounding = 1e-9 * (price.price.ps + 1);
  if (u < demand.pace_least * (1 - 1e-12)) return "faster than the bound";
  for (int j = 0; j < n; ++j)
    if (price.offsets[j].ps < 0) return fmt::format("offset {} is negative", j);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (i == j) continue;
      const double arrival = price.offsets[j].ps + instance.latencies.at(i, j);
      if (arrival + demand.payload * u > price.price.ps + rounding)
        return fmt::format("{} reaches {} after the end", j, i);
      for (int k = 0; k < n; ++k) {
        if (k == i || k == j) continue;
        const double other = price.offsets[k].ps + instance.latencies.at(i, k);
        if (arrival - other > demand.memory[i] * u + rounding)
          return fmt::format("at {} stream {} is too far behind stream {}", i, j, k);
      }
    }
  return "";
}

}  // namespace cotillion::testing
