// The exact search beside the slow clear one: every sequence of partitions, planned in full.
#include "search/exact.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/infinity.hpp"
#include "plan/every_round.hpp"
#include "plan/named_schedule.hpp"
#include "tests/support/base/sanitized.hpp"
#include "tests/support/search/searches.hpp"

namespace cotillion {
namespace {

using testing::fixture_of;
using testing::nine_cities;
using testing::random_map;
using testing::with_memory;

constexpr std::size_t kObjectiveCount = kObjectives.size();
constexpr int kOneIn = testing::kSanitized ? 4 : 1;  // of many alike

// The least of each objective over every sequence that starts with its first partition (the
// others are its rotations) and is allowed.
std::array<double, kObjectiveCount> brute_force(const NetworkModel& network, const Rules& rules,
                                                const PlanSettings& settings, int period_max) {
  const int n = network.map().island_count();
  const std::vector<Round> rounds = every_round(n);
  std::array<double, kObjectiveCount> best;
  best.fill(kInfinity);
  std::vector<std::size_t> path;
  const auto visit = [&](const auto& self) -> void {
    if (!path.empty()) {
      Schedule schedule;
      for (const std::size_t r : path) schedule.rounds.push_back(rounds[r]);
      if (rules.allows(schedule) && connects_all(schedule, n)) {
        const Plan plan = make_plan(network, schedule, settings);
        for (std::size_t o = 0; o < kObjectiveCount; ++o)
          best[o] = std::min(best[o], plan.objectives[o].ps);
      }
    }
    if (int(path.size()) == period_max) return;
    for (std::size_t r = path.empty() ? 0 : path[0]; r < rounds.size(); ++r) {
      path.push_back(r);
      self(self);
      path.pop_back();
    }
  };
  visit(visit);
  return best;
}

ExactResult exactly(const NetworkModel& network, const Rules& rules, const PlanSettings& settings,
                    int period_max) {
  Alone alone;
  const Score score(network, settings);
  return search_exactly(network, score, rules, {period_max, 0},
                        Standing{{}, kInfinity, kInfinity, kInfinity}, alone, {}, {});
}

void expect_brute_force(Map map, const Constraints& constraints, PlanSettings settings,
                        int period_max, const std::string& where) {
  const auto fixture = fixture_of(std::move(map));
  const Rules rules(fixture->network, constraints);
  const auto best = brute_force(fixture->network, rules, settings, period_max);
  for (const Objective objective : kObjectives) {
    settings.objective = objective;
    const double expected = best[std::size_t(objective)];
    const ExactResult found = exactly(fixture->network, rules, settings, period_max);
    const std::string what = where + ", " + std::string(to_name(objective));
    EXPECT_EQ(found.period_proven, period_max) << what;
    if (std::isinf(expected)) {
      EXPECT_TRUE(std::isinf(found.best.value)) << what;
      continue;
    }
    ASSERT_NEAR(found.best.value, expected, 1e-9 * expected) << what;
    const Plan plan = make_plan(fixture->network, found.best.schedule, settings);
    EXPECT_NEAR(plan.staleness().ps, expected, 1e-9 * expected) << what;
    EXPECT_TRUE(rules.allows(found.best.schedule)) << what;
    EXPECT_LE(int(found.best.schedule.rounds.size()), period_max) << what;
  }
}

Map drawn_map(int n, std::uint64_t seed) {
  Map map = random_map(n, seed);
  Random random(seed ^ 0x6578616374);
  for (Link& link : map.links)
    if (random.between(0, 1) == 0) link.rate[0] = {1e9 * double(random.between(5, 60))};
  const Bytes memories[] = {{0}, {50'000'000}, {32'000'000'000}};
  return with_memory(map, memories[seed % 3]);
}

TEST(Exact, FindsWhatBruteForceFinds) {
  for (std::uint64_t seed = 0; seed < 9; seed += kOneIn) {
    const int n = 2 + int(seed % 3);
    expect_brute_force(drawn_map(n, seed), {}, {}, 3, fmt::format("seed {}", seed));
  }
  for (std::uint64_t seed = 9; seed < 11; seed += kOneIn)
    expect_brute_force(drawn_map(5, seed), {}, {}, 2, fmt::format("seed {}", seed));
  expect_brute_force(drawn_map(4, 12), {}, {}, 4, "seed 12");
}

// Links as thin as access: a second stream on one of them doubles a round.
TEST(Exact, FindsWhatBruteForceFindsWhereLengthsLieFarApart) {
  for (std::uint64_t seed = 60; seed < 64; seed += kOneIn) {
    Map map = random_map(5, seed);
    for (Link& link : map.links) link.rate[0] = link.rate[1] = {5e9};
    Constraints pairs;
    pairs.clique_max = 2;
    expect_brute_force(map, pairs, {}, 3, fmt::format("five islands in pairs, seed {}", seed));
    map = random_map(4, seed);
    for (Link& link : map.links) link.rate[0] = link.rate[1] = {5e9};
    expect_brute_force(map, {}, {}, 3, fmt::format("seed {}", seed));
  }
}

TEST(Exact, FindsWhatBruteForceFindsUnderConstraints) {
  Constraints small, apart, together, busy, pinned;
  small.clique_max = 2;
  apart.apart = {{0, 1}, {2, 3}};
  together.together = {{1, 2}};
  together.clique_max = 3;
  busy.may_rest = std::vector<IslandId>{};
  pinned.pinned = {completed({{{0, 1, 2, 3}, {}}}, 4), completed({{{0, 1}, {}}}, 4)};
  pinned.clique_max = 2;
  std::uint64_t seed = 20;
  for (const Constraints& constraints : {small, apart, together, busy, pinned})
    for (int k = 0; k < 2; k += kOneIn, ++seed)
      expect_brute_force(drawn_map(4, seed), constraints, {}, 3, fmt::format("seed {}", seed));
  expect_brute_force(drawn_map(5, seed), apart, {}, 2, fmt::format("seed {}", seed));
}

TEST(Exact, FindsWhatBruteForceFindsUnderEgressCapsSlackAndSteps) {
  for (std::uint64_t seed = 40; seed < 44; seed += kOneIn) {
    PlanSettings settings;
    // Between a tenth of the access rate and twice as much as it can send.
    Random random(seed);
    for (int i = 0; i < 4; ++i) settings.egress_most.push_back(1e8 * double(random.between(3, 60)));
    settings.egress_most[1] = kInfinity;
    if (seed % 2 == 1) settings.slack = Duration{15'000'000'000};
    if (seed == 43) {
      settings.step_time = Duration{170'000'000'000};
      settings.whole_steps = true;
    }
    expect_brute_force(drawn_map(4, seed), {}, settings, 3, fmt::format("seed {}", seed));
  }
}

TEST(Exact, SaysSoWhenNothingAllowedEverSettles) {
  const auto fixture = fixture_of(random_map(6, 4));
  Constraints constraints;  // two halves that never meet
  for (IslandId a = 0; a < 3; ++a)
    for (IslandId b = 3; b < 6; ++b) constraints.apart.push_back({a, b});
  const Rules rules(fixture->network, constraints);
  const ExactResult found = exactly(fixture->network, rules, {}, 2);
  EXPECT_TRUE(std::isinf(found.best.value)) << found.best.value;
}

TEST(Exact, OneAndTwoIslandsAreEasy) {
  for (const int n : {1, 2}) expect_brute_force(random_map(n, 2), {}, {}, 3, fmt::format("{}", n));
}

// Certified elsewhere, independently.
TEST(Exact, NineCitiesAreCertified) {
  struct Golden {
    Objective objective;
    Bytes memory;
    double staleness_ms;
  };
  const Golden goldens[] = {{Objective::kPaper, {0}, 1231.2000},
                            {Objective::kPaper, {32'000'000'000}, 967.6095},
                            {Objective::kSquared, {0}, 914.8600},
                            {Objective::kSquared, {32'000'000'000}, 803.6990}};
  for (std::size_t k = 0; k < std::size(goldens);
       k += testing::kSanitized ? std::size(goldens) : 1) {
    const Golden& golden = goldens[k];
    const auto fixture = nine_cities(golden.memory);
    SearchSettings settings;
    settings.plan.objective = golden.objective;
    settings.steps = 3'000;
    settings.constraints.period_max = 3;
    const SearchResult found = testing::alone(*fixture, settings);
    EXPECT_TRUE(found.certified);
    EXPECT_EQ(found.period_max, 3);
    EXPECT_NEAR(found.plan.staleness().ms(), golden.staleness_ms, 1e-4);
    EXPECT_EQ(found.bound.ps, found.plan.staleness().ps);
    EXPECT_EQ(found.gap(), 0);
    EXPECT_NEAR(found.class_size, 21147.0 + std::pow(21147.0, 2) + std::pow(21147.0, 3), 1e4);
  }
}

// Few pairs are left on nine cities, so eight rounds are no harder to prove than three. Under the
// squared objective four beat three.
TEST(Exact, GoesFurtherWhereThatIsCheap) {
  if (testing::is_left_to_make_sanitize()) GTEST_SKIP() << testing::kLeftToMakeSanitize;
  const auto fixture = nine_cities({0});
  SearchSettings settings;
  settings.steps = 3'000;
  const SearchResult paper = testing::alone(*fixture, settings);
  EXPECT_TRUE(paper.certified);
  EXPECT_EQ(paper.period_max, kAnnealedPeriod);
  EXPECT_NEAR(paper.class_size / std::pow(21147.0, 8), 1, 1e-4);
  EXPECT_NEAR(paper.plan.staleness().ms(), 1231.2, 1e-4);
  settings.plan.objective = Objective::kSquared;
  const SearchResult squared = testing::alone(*fixture, settings);
  EXPECT_EQ(squared.schedule.rounds.size(), 4u);
  EXPECT_NEAR(squared.plan.staleness().ms(), 905.6140, 1e-4);
}

TEST(Exact, NineCitiesAreNeverWorseThanANamedSchedule) {
  if (testing::is_left_to_make_sanitize()) GTEST_SKIP() << testing::kLeftToMakeSanitize;
  double last = kInfinity;
  constexpr std::int64_t kMegabytes[] = {0, 5, 10, 20, 40, 60, 90, 130, 180, 250, 1'000, 32'000};
  for (const std::int64_t megabytes : kMegabytes) {
    const auto fixture = nine_cities({megabytes * 1'000'000});
    SearchSettings settings;
    settings.steps = 3'000;
    const SearchResult found = testing::alone(*fixture, settings);
    ASSERT_TRUE(found.proven) << megabytes << " MB";
    for (const ScheduleName& name : schedule_names()) {
      const auto named = named_schedule(name.name, fixture->map, fixture->routes);
      if (!named) continue;
      EXPECT_LE(found.plan.staleness(), make_plan(fixture->network, *named).staleness())
          << name.name << ", " << megabytes << " MB";
    }
    EXPECT_LE(found.plan.staleness().ps, last * (1 + 1e-12)) << "more memory is no harm";
    last = found.plan.staleness().ps;
  }
}

}  // namespace
}  // namespace cotillion
