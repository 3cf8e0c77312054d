#include "tests/support/plan/timing_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/random.hpp"
#include "plan/clique_price.hpp"
#include "plan/schedule.hpp"
#include "tests/support/plan/clp_rows.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion::testing {
namespace {

// A time of the program: an event of an island in a round, or none.
struct TimedEvent {
  enum class Kind { kNone, kCopy, kSum };
  Kind kind = Kind::kNone;
  int round = 0;
  IslandId island = 0;
};

// after ≥ before + weight − periods·Λ − delays·d
using Constrain = std::function<void(TimedEvent after, TimedEvent before, double weight,
                                     int periods, int delays, const char* what)>;

const TimedClique* clique_with(const std::vector<TimedClique>& round, IslandId island) {
  for (const TimedClique& clique : round)
    if (clique.islands.size() > 1 &&
        std::find(clique.islands.begin(), clique.islands.end(), island) != clique.islands.end())
      return &clique;
  return nullptr;
}

TimedEvent copy_of(int round, IslandId island) {
  return {TimedEvent::Kind::kCopy, round, island};
}
TimedEvent sum_of(int round, IslandId island) {
  return {TimedEvent::Kind::kSum, round, island};
}

void inside_a_clique(const TimingProblem& problem, const TimedClique& clique, int k,
                     const Constrain& constrain) {
  const int n = int(clique.islands.size());
  const double fragment = problem.payload * clique.pace / problem.fragments;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const TimedEvent copy = copy_of(k, clique.islands[j]), sum = sum_of(k, clique.islands[i]);
      const auto flight = i == j ? 0 : double(clique.latency[i * n + j].ps);
      constrain(sum, copy, flight, 0, 0, "arrival");
      constrain(copy, sum, fragment, 0, 1, "delay");
      if (i != j && !std::isinf(clique.memory[i]))
        constrain(copy, sum, -flight - clique.memory[i] * clique.pace, 0, 0, "memory");
    }
}

void from_round_to_round(const TimingProblem& problem, IslandId island, int k,
                         const Constrain& constrain) {
  const TimedClique* clique = clique_with(problem.rounds[k], island);
  if (clique == nullptr) return;
  const int rounds = int(problem.rounds.size());
  int next = k + 1;
  while (clique_with(problem.rounds[next % rounds], island) == nullptr) ++next;
  const int wraps = next >= rounds ? 1 : 0;
  next %= rounds;
  const TimedClique& then = *clique_with(problem.rounds[next], island);
  const double passes = problem.payload * clique->pace, passes_then = problem.payload * then.pace;
  const double kept = passes * (1 + problem.headroom);
  constrain(copy_of(next, island), copy_of(k, island), kept, wraps, 0, "out");
  constrain(sum_of(next, island), sum_of(k, island), kept, wraps, 0, "in");
  for (int f = 0; f < problem.fragments; ++f)
    constrain(
        copy_of(next, island), sum_of(k, island),
        (f + 1) * passes / problem.fragments - f * passes_then / problem.fragments + problem.slack,
        wraps, 0, "merge before copy");
  const auto me = std::find(clique->islands.begin(), clique->islands.end(), island);
  const double memory = clique->memory[me - clique->islands.begin()];
  if (std::isinf(memory)) return;
  const int n = int(then.islands.size());
  const auto to = std::find(then.islands.begin(), then.islands.end(), island);
  for (int j = 0; j < n; ++j)
    if (then.islands[j] != island)
      constrain(copy_of(next, then.islands[j]), sum_of(k, island),
                passes - double(then.latency[(to - then.islands.begin()) * n + j].ps) -
                    memory * clique->pace,
                wraps, 0, "memory through rounds");
}

void every_constraint(const TimingProblem& problem, const Constrain& constrain) {
  for (std::size_t k = 0; k < problem.rounds.size(); ++k) {
    for (const TimedClique& clique : problem.rounds[k])
      if (clique.islands.size() > 1) inside_a_clique(problem, clique, int(k), constrain);
    for (IslandId island = 0; island < problem.island_count; ++island)
      from_round_to_round(problem, island, int(k), constrain);
  }
  constrain({}, {}, problem.period_least, 1, 0, "least period");
}

double random_edge_memory(Random& random, double payload) {
  switch (random.between(0, 5)) {
    case 0:
      return 0;
    case 1:
      return kUnlimited;
    default:
      return std::floor(payload * std::pow(10.0, 0.5 - 3 * random.unit()));
  }
}

void fill_timed(TimedClique& clique, Random& random, const std::vector<double>& memory,
                double gbps) {
  const std::size_t n = clique.islands.size();
  const bool symmetric = random.between(0, 1) == 0;
  clique.latency.resize(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const bool mirrored = symmetric && j < i;
      clique.latency[i * n + j] =
          mirrored ? clique.latency[j * n + i] : Duration{random.between(1, 150'000) * 1'000'000};
    }
  clique.pace = 8e3 / gbps;
  for (const IslandId island : clique.islands) clique.memory.push_back(memory[island]);
}

}  // namespace

TimingProblem random_timing_problem(std::uint64_t seed) {
  Random random(seed);
  TimingProblem problem;
  problem.island_count = int(random.between(2, 6));
  problem.payload = std::floor(1e7 * std::pow(10.0, 2.5 * random.unit()));
  problem.fragments = 1 << random.between(0, 6);
  problem.area = 1 + 5 * random.unit();
  if (random.between(0, 2) == 0) problem.slack = 1e9 * random.unit();
  if (random.between(0, 2) == 0) problem.headroom = 0.1 * random.unit();
  if (random.between(0, 3) == 0) problem.period_least = 4e11 * random.unit();
  const bool one_pace = random.between(0, 1) == 0;
  const double gbps = 5 + 100 * random.unit();
  const bool equal = random.between(0, 1) == 0;
  std::vector<double> memory(problem.island_count, random_edge_memory(random, problem.payload));
  if (!equal)
    for (double& each : memory) each = random_edge_memory(random, problem.payload);
  const Schedule schedule =
      random_schedule(problem.island_count, int(random.between(1, 4)), random.next());
  for (const Round& round : schedule.rounds) {
    auto& cliques = problem.rounds.emplace_back();
    for (const Clique& clique : round.cliques) {
      cliques.emplace_back().islands = clique.islands;
      fill_timed(cliques.back(), random, memory, one_pace ? gbps : 5 + 100 * random.unit());
    }
  }
  return problem;
}

double value_of(const TimingProblem& problem, const Timing& timing) {
  return timing.period / double(problem.rounds.size()) * (problem.area - 0.5) + timing.delay;
}

// Columns: Λ, d, then copies and sums by round and island, in milliseconds.
std::optional<double> clp_timing(const TimingProblem& problem) {
  const double ms = kPicosecondsPerMillisecond;
  const int per_round = 2 * problem.island_count;
  const auto column = [&](const TimedEvent& event) {
    const int sum = event.kind == TimedEvent::Kind::kSum ? problem.island_count : 0;
    return 2 + event.round * per_round + sum + event.island;
  };
  ClpRows rows;
  every_constraint(problem, [&](const TimedEvent& after, const TimedEvent& before, double weight,
                                int periods, int delays, const char*) {
    if (after.kind == TimedEvent::Kind::kNone)
      rows.add({{0, periods}}, weight / ms);
    else if (column(after) == column(before))
      rows.add({{0, periods}, {1, delays}}, weight / ms);
    else
      rows.add({{column(after), 1}, {column(before), -1}, {0, periods}, {1, delays}}, weight / ms);
  });
  const std::size_t columns = 2 + problem.rounds.size() * per_round;
  std::vector<double> lower(columns, 0), cost(columns, 0);
  cost[0] = (problem.area - 0.5) / double(problem.rounds.size());
  cost[1] = 1;
  const std::optional<double> least = rows.minimum(lower, cost, 1e-10);
  if (!least) return std::nullopt;
  return *least * ms;
}

std::string broken_constraint(const TimingProblem& problem, const Timing& timing) {
  std::string broken;
  const auto time = [&](const TimedEvent& event) {
    if (event.kind == TimedEvent::Kind::kNone) return 0.0;
    const auto& times = event.kind == TimedEvent::Kind::kCopy ? timing.copy : timing.sum;
    return times[event.round][event.island];
  };
  every_constraint(problem, [&](const TimedEvent& after, const TimedEvent& before, double weight,
                                int periods, int delays, const char* what) {
    const double missing =
        time(before) + weight - periods * timing.period - delays * timing.delay - time(after);
    // Memories suffice to a relative 1e-12, doubles hold times to about a hundredth of a
    // picosecond.
    if (missing > 0.1 + 1e-11 * std::fabs(weight) && broken.empty())
      broken = fmt::format("{}: round {}, island {} is {} ps before it could be", what, after.round,
                           after.island, missing);
  });
  return broken;
}

}  // namespace cotillion::testing
