// The search beside its peer: schedules evaluated per second by an annealing walk, and by a plain
// evaluation of schedules of the same kind in the same run (every clique of every round priced
// from scratch, mixing by dense N × N products to the same accuracy), with the ratio printed.
// Nothing here is asserted; docs/performance.md records it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>

#include "base/infinity.hpp"
#include "search/pair_prices.hpp"
#include "search/search.hpp"
#include "search/seeds.hpp"
#include "search/survival_tail.hpp"
#include "search/walker.hpp"
#include "tests/support/base/benchmark_runs.hpp"
#include "tests/support/plan/maps.hpp"
#include "topology/generate_map.hpp"

namespace cotillion {
namespace {

constexpr int kSizes[] = {9, 40, 100, 1000};
// Both ways close the tail of a curve by the same rule (search/survival_tail.hpp), so that they add
// the same numbers and only round differently.
constexpr double kRounding = 1e-9;

Map map_of_size(int islands) {
  if (islands == 9) return testing::example_map("nine-cities");
  if (islands == 40) return testing::example_map("geant");
  return generate_map(islands, 1);
}

// A map with the best of a few seeds, from which walks begin.
struct SearchCase {
  std::unique_ptr<testing::MapFixture> fixture;
  Constraints constraints;
  PlanSettings settings;
  Rules rules;
  Score score;
  PairPrices pairs;
  Neighbourhood neighbourhood;
  CliqueCache cache;
  Schedule start;

  explicit SearchCase(int islands)
      : fixture(testing::fixture_of(map_of_size(islands))),
        rules(fixture->network, constraints),
        score(fixture->network, settings),
        pairs(fixture->network, rules, settings.fragments),
        neighbourhood(pairs, islands),
        cache(fixture->network, settings.fragments) {
    Random random(1);
    double best = kInfinity;
    for (const Seed& seed : make_seeds(pairs, rules, kAnnealedPeriod, cache, random)) {
      Walker walker(rules, score, neighbourhood, cache);
      // Every change of a period of one round never settles: nothing to be measured.
      if (seed.schedule.rounds.size() < 2) continue;
      if (!walker.begin(seed.schedule) || walker.best().value >= best) continue;
      best = walker.best().value;
      start = seed.schedule;
    }
  }
};

SearchCase& case_of(int islands) {
  static std::map<int, std::unique_ptr<SearchCase>> cases;
  auto& here = cases[islands];
  if (!here) here = std::make_unique<SearchCase>(islands);
  return *here;
}

// As a search walks: most changes are refused at the first sign of being worse.
void walk(benchmark::State& state) {
  SearchCase& here = case_of(int(state.range(0)));
  Walker walker(here.rules, here.score, here.neighbourhood, here.cache);
  if (!walker.begin(here.start)) return state.SkipWithError("the seed cannot be stepped");
  Random random(7);
  WalkSettings settings;
  settings.steps = state.range(0) >= 1000 ? 500 : 5000;
  settings.hot = settings.cold = 2e-3;
  for (auto _ : state) walker.walk(settings, here.start.rounds, random, {});
  state.SetItemsProcessed(walker.evaluated());
  state.counters["rounds"] = double(walker.best().schedule.rounds.size());
}
BENCHMARK(walk)->Arg(9)->Arg(40)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

// Changes of one round of a schedule, as a walk proposes them, that all settle: the same list for
// every way of evaluating them, over and over.
struct Change {
  int round = 0;
  Move move;
  Schedule schedule;
};
struct Changes {
  std::vector<RoundState> rounds;
  std::vector<const Grouping*> groups;
  std::vector<Change> list;

  explicit Changes(SearchCase& here) {
    const int n = here.fixture->map.island_count(), wanted = n >= 1000 ? 4 : 64;
    for (const Round& round : here.start.rounds) rounds.push_back(state_of(round, here.cache));
    for (const RoundState& round : rounds) groups.push_back(&round.groups);
    AreaMeter meter(n, false, AreaMeter::Care::kSearch);
    benchmark::DoNotOptimize(meter.start(groups, kInfinity));
    Random random(9);
    RoundState next;
    while (int(list.size()) < wanted) {
      Change change{int(random.between(0, std::int64_t(rounds.size()) - 1)), {}, here.start};
      const RoundState& round = rounds[change.round];
      if (!draw_move(round, here.neighbourhood, -1, here.fixture->network, random, change.move) ||
          !replace(round, change.move.gone, change.move.fresh, 1e18, here.cache, next))
        continue;
      change.schedule.rounds[change.round] = round_of(next);
      if (!here.rules.allows(change.schedule) || !connects_all(change.schedule, n) ||
          !std::isfinite(meter.changed(change.round, next.groups, kInfinity)))
        continue;
      list.push_back(std::move(change));
    }
  }
};

// Only what changed is worked out again, but nothing is refused early.
void change_in_full(benchmark::State& state) {
  SearchCase& here = case_of(int(state.range(0)));
  const Changes changes(here);
  AreaMeter meter(int(state.range(0)), false, AreaMeter::Care::kSearch);
  benchmark::DoNotOptimize(meter.start(changes.groups, kInfinity));
  RoundState next;
  std::size_t k = 0;
  for (auto _ : state) {
    const Change& change = changes.list[k++ % changes.list.size()];
    benchmark::DoNotOptimize(replace(changes.rounds[change.round], change.move.gone,
                                     change.move.fresh, kInfinity, here.cache, next));
    benchmark::DoNotOptimize(meter.changed(change.round, next.groups, kInfinity));
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["rounds"] = double(changes.rounds.size());
}
BENCHMARK(change_in_full)->Arg(9)->Arg(40)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

// The dearest clique of all rounds, every one of them routed, counted and priced anew.
double plain_price(const NetworkModel& network, const Schedule& schedule, PriceScratch& scratch) {
  double price = 0;
  for (const Round& round : schedule.rounds) {
    const RoundRates rates = rates_of(network, round);
    for (std::size_t c = 0; c < round.cliques.size(); ++c) {
      const Clique& clique = round.cliques[c];
      if (clique.size() < 2) continue;
      CliqueLatencies latencies;
      network.latencies(clique, latencies);
      const CliqueShape shape = shape_of(latencies, {}, scratch);
      const double pace = ps_per_byte(rates.bounds[c].rate) * network.wire_factor();
      const Pace best = best_pace(shape, double(network.payload().count),
                                  network.memory(clique.islands[0]), pace);
      price = std::max(price, best.feasible ? best.price_ps : kInfinity);
    }
  }
  return price;
}

using Matrix = std::vector<double>;  // N × N, by rows

// `into` ← W·Φ, every element of it.
void multiply(const Matrix& w, const Matrix& phi, std::size_t n, Matrix& into) {
  into.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      const double weight = w[i * n + k];
      for (std::size_t j = 0; j < n; ++j) into[i * n + j] += weight * phi[k * n + j];
    }
}

double plain_area(const Schedule& schedule, int islands) {
  const auto n = std::size_t(islands);
  const std::size_t period = schedule.rounds.size();
  std::vector<Matrix> w(period, Matrix(n * n, 0)), phi(period, Matrix(n * n, 0));
  for (std::size_t r = 0; r < period; ++r) {
    for (const Clique& clique : schedule.rounds[r].cliques)
      for (const IslandId a : clique.islands)
        for (const IslandId b : clique.islands) w[r][std::size_t(a) * n + b] = 1.0 / clique.size();
    for (std::size_t i = 0; i < n; ++i) phi[r][i * n + i] = 1;
  }
  std::vector<double> sums{double(period)};
  double total = double(period);
  SurvivalTail tail(TailCare::kSearch, int(period));
  Matrix next;
  for (std::size_t length = 1; length < 20'000; ++length) {
    double sum = 0;
    for (std::size_t first = 0; first < period; ++first) {
      multiply(w[(first + length - 1) % period], phi[first], n, next);
      std::swap(phi[first], next);
      for (const double value : phi[first]) sum += std::fabs(value - 1.0 / islands);
    }
    sum /= 2.0 * islands - 2;
    sums.push_back(sum);
    total += sum;
    if (length < period) continue;
    const TailState state = tail.follow(sums, total);
    if (state == TailState::kClosed || state == TailState::kSettled)
      return (total + tail.rest()) / double(period);
  }
  return kInfinity;
}

void plain(benchmark::State& state) {
  const int n = int(state.range(0));
  SearchCase& here = case_of(n);
  const Changes changes(here);
  AreaMeter meter(n, false, AreaMeter::Care::kSearch);
  benchmark::DoNotOptimize(meter.start(changes.groups, kInfinity));
  PriceScratch scratch;
  std::size_t k = 0;
  for (auto _ : state) {
    const Change& change = changes.list[k++ % changes.list.size()];
    const double price = plain_price(here.fixture->network, change.schedule, scratch);
    const double area = plain_area(change.schedule, n);
    state.PauseTiming();  // both ways must have evaluated the same thing
    RoundState next;
    const bool done = replace(changes.rounds[change.round], change.move.gone, change.move.fresh,
                              kInfinity, here.cache, next);
    double dearest = next.price;
    for (int r = 0; r < int(changes.rounds.size()); ++r)
      if (r != change.round) dearest = std::max(dearest, changes.rounds[r].price);
    const double fast = meter.changed(change.round, next.groups, kInfinity);
    if (!done || std::fabs(dearest - price) > kRounding * price ||
        std::fabs(fast - area) > kRounding * area)
      return state.SkipWithError("the two ways of evaluating disagree");
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(plain)->Arg(9)->Arg(40)->Arg(100)->Unit(benchmark::kMillisecond);
// Half a minute or more: once is enough.
BENCHMARK(plain)->Arg(1000)->Iterations(1)->Unit(benchmark::kMillisecond);

// All schedules of nine cities of up to three rounds, from nothing to a certificate.
void certify_nine_cities(benchmark::State& state) {
  const auto fixture = testing::nine_cities({state.range(0)});
  SearchSettings settings;
  settings.steps = 10'000;
  Alone alone;
  for (auto _ : state)
    benchmark::DoNotOptimize(search(fixture->network, settings, alone).certified);
}
BENCHMARK(certify_nine_cities)->Arg(0)->Arg(32'000'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cotillion

int main(int argc, char** argv) {
  using namespace cotillion;
  const bool smoke = cotillion::testing::take_smoke(argc, argv);
  cotillion::testing::initialize_benchmarks(argc, argv, smoke,
                                            "/(9|40|100)$|certify_nine_cities/0");
  cotillion::testing::BenchmarkRuns runs;
  benchmark::RunSpecifiedBenchmarks(&runs);
  for (const int n : kSizes) {
    const auto rate = [&](const char* name) {
      return runs.rate(fmt::format("{}/{}", name, n), "items_per_second");
    };
    if (rate("walk") == 0 || rate("plain") == 0) continue;
    fmt::print(
        "{:4} islands: {:9.0f} schedules/s, plain {:9.2f}: {:.0f} times faster; with nothing "
        "refused early {:9.0f}: {:.0f} times\n",
        n, rate("walk"), rate("plain"), rate("walk") / rate("plain"), rate("change_in_full"),
        rate("change_in_full") / rate("plain"));
  }
  return runs.failed() ? 1 : 0;
}
