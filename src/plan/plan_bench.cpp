// The planner beside its peer: the same cliques priced by CLP from the paper's full program in
// the same run, and the ratio printed. Nothing here is asserted; docs/performance.md records it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "plan/clique_price.hpp"
#include "plan/every_round.hpp"
#include "plan/named_schedule.hpp"
#include "plan/plan.hpp"
#include "plan/streams.hpp"
#include "tests/support/base/benchmark_runs.hpp"
#include "tests/support/plan/clp_oracle.hpp"
#include "tests/support/plan/instances.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::instance_of_size;

void price_cotillion(benchmark::State& state) {
  const testing::Instance instance = instance_of_size(int(state.range(0)), 1);
  PriceScratch scratch;
  for (auto _ : state) {
    const CliqueShape shape = shape_of(instance.latencies, {}, scratch);
    benchmark::DoNotOptimize(best_pace(shape, instance.demand.payload, instance.demand.memory[0],
                                       instance.demand.pace_least));
  }
}
BENCHMARK(price_cotillion)->DenseRange(3, 15, 3)->Arg(20)->Arg(30)->Arg(40)->Arg(50);

void price_with_offsets_and_reason(benchmark::State& state) {
  const testing::Instance instance = instance_of_size(int(state.range(0)), 1);
  PriceScratch scratch;
  for (auto _ : state)
    benchmark::DoNotOptimize(price_clique(instance.latencies, instance.demand, scratch));
}
BENCHMARK(price_with_offsets_and_reason)->Arg(9)->Arg(50);

void price_unequal_memories(benchmark::State& state) {
  testing::Instance instance = instance_of_size(int(state.range(0)), 1);
  for (std::size_t i = 0; i < instance.demand.memory.size(); i += 2) instance.demand.memory[i] *= 2;
  PriceScratch scratch;
  for (auto _ : state)
    benchmark::DoNotOptimize(price_clique(instance.latencies, instance.demand, scratch));
}
BENCHMARK(price_unequal_memories)->Arg(9)->Arg(50);

void price_again_for_another_memory(benchmark::State& state) {
  const testing::Instance instance = instance_of_size(int(state.range(0)), 1);
  PriceScratch scratch;
  const CliqueShape shape = shape_of(instance.latencies, {}, scratch);
  double memory = 1e6;
  for (auto _ : state) {
    memory = memory < 1e9 ? memory * 1.01 : 1e6;
    benchmark::DoNotOptimize(best_pace(shape, 1e9, memory, 400));
  }
}
BENCHMARK(price_again_for_another_memory)->Arg(9)->Arg(50);

void price_clp(benchmark::State& state) {
  const testing::Instance instance = instance_of_size(int(state.range(0)), 1);
  for (auto _ : state)
    benchmark::DoNotOptimize(testing::clp_price(instance.latencies, instance.demand));
}
BENCHMARK(price_clp)->DenseRange(3, 15, 3)->Arg(20)->Unit(benchmark::kMicrosecond);

// All partitions of nine cities: 511 cliques routed, counted and shaped once, then lanes shared
// and every clique priced for each of the 21,147 rounds.
void all_partitions_of_nine_cities(benchmark::State& state) {
  const auto fixture = testing::nine_cities({state.range(0)});
  const NetworkModel& network = fixture->network;
  std::vector<std::vector<unsigned>> partitions;
  for (const Round& round : every_round(9)) {
    partitions.emplace_back();
    for (const Clique& clique : round.cliques) {
      unsigned members = 0;
      for (const IslandId island : clique.islands) members |= 1u << island;
      partitions.back().push_back(members);
    }
  }
  double best = 0;
  for (auto _ : state) {
    std::vector<CliqueShape> shapes(512);
    std::vector<std::vector<LaneLoad>> loads(512);
    LoadCounter counter(network);
    CliqueLatencies latencies;
    PriceScratch scratch;
    for (unsigned members = 1; members < 512; ++members) {
      Clique clique;
      for (IslandId i = 0; i < 9; ++i)
        if ((members >> i & 1) != 0) clique.islands.push_back(i);
      network.latencies(clique, latencies);
      shapes[members] = shape_of(latencies, {}, scratch);
      counter.count(clique, loads[members]);
    }
    IdVector<LaneId, BitsPerSecond> rates;
    for (LaneId lane = 0; lane < network.map().lane_count(); ++lane)
      rates.push_back(lane_rate(network.map(), lane));
    IdVector<LaneId, int> total(network.map().lane_count(), 0);
    std::vector<const std::vector<LaneLoad>*> used;
    std::vector<RateBound> bounds;
    best = 0;
    for (const auto& partition : partitions) {
      used.clear();
      for (const unsigned members : partition) used.push_back(&loads[members]);
      share_lanes(rates, used, total, bounds);
      double round = 0;
      for (std::size_t c = 0; c < partition.size(); ++c) {
        if (bounds[c].lane < 0) continue;
        const Pace pace =
            best_pace(shapes[partition[c]], 1e9, network.memory(0), ps_per_byte(bounds[c].rate));
        round = std::max(round, pace.feasible ? pace.price_ps : 1e18);
      }
      best += round;
    }
    benchmark::DoNotOptimize(best);
  }
  state.counters["partitions"] = double(partitions.size());
}
BENCHMARK(all_partitions_of_nine_cities)
    ->Arg(0)
    ->Arg(32'000'000'000)
    ->Unit(benchmark::kMillisecond);

void plan_two_hundred_islands(benchmark::State& state, const char* schedule) {
  const Map map = testing::random_map(200, 11);
  for (auto _ : state) {
    const Routes routes(map);
    const NetworkModel network(map, routes);
    benchmark::DoNotOptimize(make_plan(network, *named_schedule(schedule, map, routes)));
  }
}
BENCHMARK_CAPTURE(plan_two_hundred_islands, all_to_all, "all-to-all")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_two_hundred_islands, grid, "grid")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_two_hundred_islands, pairs, "pairs")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cotillion

int main(int argc, char** argv) {
  using namespace cotillion;
  const bool smoke = cotillion::testing::take_smoke(argc, argv);
  cotillion::testing::initialize_benchmarks(argc, argv, smoke, "-/pairs|/15|/20");
  cotillion::testing::BenchmarkRuns runs;
  benchmark::RunSpecifiedBenchmarks(&runs);
  for (const int n : {3, 6, 9, 12, 15, 20}) {
    const double ours = runs.nanoseconds(fmt::format("price_cotillion/{}", n));
    const double clp = runs.nanoseconds(fmt::format("price_clp/{}", n));
    if (ours == 0 || clp == 0) continue;
    fmt::print("clique of {:2}: {:8.2f} us, CLP {:10.1f} us: {:.0f} times faster\n", n, ours / 1e3,
               clp / 1e3, clp / ours);
  }
  return runs.failed() ? 1 : 0;
}
