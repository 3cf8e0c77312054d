#include "plan/ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "plan/objective.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::random_schedule;

constexpr double kLedgerMs = kPicosecondsPerMillisecond;

// A schedule in barrier rounds: everyone copies when a round starts and merges `delay` later.
LedgerPlan barrier_plan(const Schedule& schedule, int islands, const std::vector<double>& lengths,
                        const std::vector<double>& delays) {
  LedgerPlan plan;
  plan.island_count = islands;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    auto& round = plan.rounds.emplace_back();
    for (const Clique& clique : schedule.rounds[k].cliques) {
      const std::vector<double> start(clique.islands.size(), plan.period);
      const std::vector<double> merge(clique.islands.size(), plan.period + delays[k]);
      round.push_back({clique.islands, clique.weights, start, merge, 0});
    }
    plan.period += lengths[k];
  }
  return plan;
}

std::vector<RealDuration> durations(const std::vector<double>& ps) {
  std::vector<RealDuration> result;
  for (const double each : ps) result.push_back(RealDuration::from_ps(each));
  return result;
}

struct RandomRounds {
  int islands = 0;
  Schedule schedule;
  std::vector<double> lengths, delays;
  Mixing mixing;
};

RandomRounds random_rounds(std::uint64_t seed) {
  Random random(seed);
  RandomRounds rounds;
  rounds.islands = int(random.between(2, 7));
  rounds.schedule = random_schedule(rounds.islands, int(random.between(1, 4)), seed);
  for (std::size_t k = 0; k < rounds.schedule.rounds.size(); ++k) {
    rounds.lengths.push_back(double(random.between(100, 300)) * kLedgerMs);
    rounds.delays.push_back(rounds.lengths.back() * (0.3 + 0.7 * random.unit()));
  }
  rounds.mixing = mix(rounds.schedule, rounds.islands);
  return rounds;
}

LedgerClique ledger_clique(std::vector<IslandId> islands, std::vector<double> copy_ms,
                           std::vector<double> sum_ms) {
  for (std::vector<double>* times : {&copy_ms, &sum_ms})
    for (double& time : *times) time *= kLedgerMs;
  return {std::move(islands), {}, std::move(copy_ms), std::move(sum_ms), 0};
}

TEST(Ledger, TwoIslandsWaitForTheirOwnMerges) {
  // What island 0 computes is half outstanding at each island until that one merges.
  LedgerPlan plan{2, 1, 100 * kLedgerMs, {{ledger_clique({0, 1}, {0, 0}, {30, 70})}}, {}};
  const ExactStaleness exact = exact_staleness(plan);
  EXPECT_NEAR(exact.absolute.ms(), 100 / 2.0 + (30 + 70) / 2.0, 1e-9);
  EXPECT_NEAR(exact.squared.ms(), 100 / 2.0 + (30 + 70) / 2.0, 1e-9);
  EXPECT_FALSE(exact.approximate);
}

TEST(Ledger, ThreeIslandsCopyAndMergeWhenTheyWill) {
  const std::vector<double> copy{0, 20, 50}, merge{60, 95, 80};
  LedgerPlan plan{3, 1, 120 * kLedgerMs, {{ledger_clique({0, 1, 2}, copy, merge)}}, {}};
  // Born at j: 2/3 are too many there until it merges, 1/3 is missing at each of the others.
  double expected = 0, expected_squared = 0;
  for (int j = 0; j < 3; ++j) {
    expected += 120 / 2.0 / 3;
    expected_squared += 120 / 2.0 / 3;
    for (int i = 0; i < 3; ++i) {
      const double gap = i == j ? 2 / 3.0 : 1 / 3.0;
      expected += gap / 4 * (merge[i] - copy[j]);
      expected_squared += gap * gap / 2 * (merge[i] - copy[j]);
    }
  }
  const ExactStaleness exact = exact_staleness(plan);
  EXPECT_NEAR(exact.absolute.ms(), expected, 1e-9);
  EXPECT_NEAR(exact.squared.ms(), expected_squared, 1e-9);
}

TEST(Ledger, FragmentsMergeAsTheyArrive) {
  // Every fragment goes the way of the first, S/F later each: flight and S/F are what it waits.
  LedgerPlan plan{2, 8, 100 * kLedgerMs, {{ledger_clique({0, 1}, {0, 0}, {30, 30})}}, {}};
  plan.rounds[0][0].serialisation = 40 * kLedgerMs;
  EXPECT_NEAR(exact_staleness(plan).absolute.ms(), 50 + 30 + 40 / 8.0, 1e-9);
}

TEST(Ledger, AMergeAfterTheNextCopySwingsForEver) {
  // Φ(h+1) = Φ(h) + (W − I)Φ(h−1): what one merge mends the next one undoes.
  LedgerPlan plan{2, 1, 100 * kLedgerMs, {{ledger_clique({0, 1}, {0, 0}, {150, 150})}}, {}};
  EXPECT_TRUE(std::isinf(exact_staleness(plan).absolute.ps));
}

TEST(Ledger, ACopyMayLeaveBeforeAnEarlierOneHasArrivedElsewhere) {
  // Island 1 hears of island 0 after 100 ms, back it takes 1 ms; yet both merge before they copy
  // again, every 51 ms.
  LedgerPlan plan{2, 1, 51 * kLedgerMs, {{ledger_clique({0, 1}, {0, 50}, {51, 100})}}, {}};
  const ExactStaleness exact = exact_staleness(plan);
  ASSERT_TRUE(std::isfinite(exact.absolute.ps));
  EXPECT_NEAR(exact.absolute.ms(), 51 / 2.0 + (51 + 100 + 1 + 50) / 4.0, 1e-9);
}

TEST(Ledger, WhoNeverMeetsNeverAgrees) {
  LedgerPlan plan{3, 1, 100 * kLedgerMs, {{ledger_clique({0, 1}, {0, 0}, {30, 30})}}, {}};
  EXPECT_TRUE(std::isinf(exact_staleness(plan).absolute.ps));
  LedgerPlan apart{4, 1, 100 * kLedgerMs, {}, {}};
  apart.rounds = {
      {ledger_clique({0, 1}, {0, 0}, {30, 30}), ledger_clique({2, 3}, {0, 0}, {30, 30})}};
  EXPECT_TRUE(std::isinf(exact_staleness(apart).squared.ps));
}

TEST(Ledger, OneIslandAgreesWithItself) {
  const LedgerPlan plan{1, 1, 100 * kLedgerMs, {{}}, {}};
  EXPECT_EQ(exact_staleness(plan).absolute.ps, 0);
}

TEST(Ledger, TargetsOtherThanTheMeanAreReached) {
  // Three quarters of everything are island 0's, which both take.
  LedgerPlan plan{2, 1, 100 * kLedgerMs, {{ledger_clique({0, 1}, {0, 0}, {40, 40})}}, {0.75, 0.25}};
  plan.rounds[0][0].weights = {0.75, 0.25, 0.75, 0.25};
  EXPECT_NEAR(exact_staleness(plan).absolute.ms(), 50 + 40, 1e-9);
}

TEST(Ledger, BarrierRoundsOfOneLengthGiveTheFormulasOfThePaper) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const RandomRounds rounds = random_rounds(seed);
    const double length = rounds.lengths[0];
    const std::vector<double> lengths(rounds.lengths.size(), length);
    const LedgerPlan plan = barrier_plan(rounds.schedule, rounds.islands, lengths, lengths);
    const ExactStaleness exact = exact_staleness(plan);
    if (std::isinf(rounds.mixing.area)) {
      ASSERT_TRUE(std::isinf(exact.absolute.ps)) << "seed " << seed;
      continue;
    }
    ++compared;
    const double formula = length * (rounds.mixing.area + 0.5);
    const double formula_squared = length * (rounds.mixing.area_squared + 0.5);
    ASSERT_NEAR(exact.absolute.ps, formula, 1e-11 * formula) << "seed " << seed;
    ASSERT_NEAR(exact.squared.ps, formula_squared, 1e-11 * formula_squared) << "seed " << seed;
  }
  EXPECT_GT(compared, 500);
}

TEST(Ledger, RoundsOfUnequalLengthsAndDelaysGiveTheDurationWeightedForms) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const RandomRounds rounds = random_rounds(seed);
    if (std::isinf(rounds.mixing.area)) continue;
    const auto expect = [&](Objective objective, double exact) {
      const double formula =
          staleness(objective, rounds.mixing, durations(rounds.lengths), durations(rounds.delays))
              .ps;
      ASSERT_NEAR(exact, formula, 1e-11 * formula) << to_name(objective) << ", seed " << seed;
    };
    const ExactStaleness whole = exact_staleness(
        barrier_plan(rounds.schedule, rounds.islands, rounds.lengths, rounds.lengths));
    expect(Objective::kPaper, whole.absolute.ps);
    expect(Objective::kSquared, whole.squared.ps);
    const ExactStaleness streamed = exact_staleness(
        barrier_plan(rounds.schedule, rounds.islands, rounds.lengths, rounds.delays));
    expect(Objective::kPaperStreamed, streamed.absolute.ps);
    expect(Objective::kSquaredStreamed, streamed.squared.ps);
  }
}

// Streams that are under way for different times, in rounds that wait for all of them.
LedgerPlan streamed_plan(const RandomRounds& rounds, Random& random, double& delay) {
  LedgerPlan plan = barrier_plan(rounds.schedule, rounds.islands, rounds.lengths, rounds.lengths);
  plan.fragments = int(random.between(1, 16));
  delay = 0;
  for (std::size_t k = 0; k < plan.rounds.size(); ++k)
    for (LedgerClique& clique : plan.rounds[k]) {
      clique.serialisation = rounds.lengths[k] * 0.5 * random.unit();
      for (std::size_t m = 0; m < clique.islands.size(); ++m) {
        const double flight = rounds.lengths[k] * 0.5 * random.unit();
        clique.sum[m] = clique.copy[m] + flight;
        if (clique.islands.size() > 1)
          delay = std::max(delay, flight + clique.serialisation / plan.fragments);
      }
    }
  return plan;
}

TEST(Ledger, TheLongestDelayIsNeverLessThanEveryonesOwn) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const RandomRounds rounds = random_rounds(seed);
    if (std::isinf(rounds.mixing.area)) continue;
    Random random(seed);
    double delay = 0;
    const LedgerPlan plan = streamed_plan(rounds, random, delay);
    const double formula = staleness(Objective::kPaperStreamed, rounds.mixing,
                                     durations(rounds.lengths), RealDuration::from_ps(delay))
                               .ps;
    EXPECT_LE(exact_staleness(plan).absolute.ps, formula * (1 + 1e-12)) << "seed " << seed;
  }
}

// What really happens to one fragment when a plan is kept for so many periods.
LedgerRun played(const LedgerPlan& plan, int fragment, int periods) {
  LedgerRun run{plan.island_count, {}, {}, plan.target};
  const int rounds = int(plan.rounds.size());
  for (int turn = 0; turn < periods; ++turn)
    for (int k = 0; k < rounds; ++k)
      for (const LedgerClique& clique : plan.rounds[k]) {
        const std::size_t n = clique.islands.size();
        if (n == 1) continue;
        LedgerSum& sum = run.sums.emplace_back();
        for (const IslandId island : clique.islands) sum.push_back({island, 1 / double(n)});
        const double stride = clique.serialisation / plan.fragments;
        const auto at = [&](double time) {
          return Instant{} + rounded(RealDuration::from_ps(turn * plan.period + time));
        };
        for (std::size_t m = 0; m < n; ++m) {
          const int round = turn * rounds + k, which = int(run.sums.size()) - 1;
          run.events.push_back({at(clique.sum[m] + (fragment + 1) * stride),
                                {LedgerMove::Kind::kMerge, clique.islands[m], round, which}});
          run.events.push_back({at(clique.copy[m] + fragment * stride),
                                {LedgerMove::Kind::kCopy, clique.islands[m], round, -1}});
        }
      }
  return run;
}

TEST(Ledger, ARunThatKeepsThePlanIsAsStaleAsPlanned) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const RandomRounds rounds = random_rounds(seed);
    if (std::isinf(rounds.mixing.area) || rounds.mixing.decay > 0.6) continue;
    ++compared;
    Random random(seed);
    double delay = 0;
    const LedgerPlan plan = streamed_plan(rounds, random, delay);
    const ExactStaleness planned = exact_staleness(plan);
    const auto at = [&](double periods) {
      return Instant{} + rounded(RealDuration::from_ps(periods * plan.period));
    };
    double absolute = 0, squared = 0;
    for (int f = 0; f < plan.fragments; ++f) {
      const ExactStaleness lived = exact_staleness(played(plan, f, 90), at(3), at(13), at(88));
      absolute += lived.absolute.ps / plan.fragments;
      squared += lived.squared.ps / plan.fragments;
    }
    // The run's times are whole picoseconds.
    ASSERT_NEAR(absolute, planned.absolute.ps, 1e-10 * planned.absolute.ps) << "seed " << seed;
    ASSERT_NEAR(squared, planned.squared.ps, 1e-10 * planned.squared.ps) << "seed " << seed;
  }
  EXPECT_GT(compared, 50);
}

TEST(Ledger, AMergeThatNeverCameIsMissedEverAfter) {
  const LedgerPlan plan{2, 1, 100 * kLedgerMs, {{ledger_clique({0, 1}, {0, 0}, {40, 40})}}, {}};
  LedgerRun run = played(plan, 0, 10);
  const auto at = [](double ms) {
    return Instant{} + rounded(RealDuration::from_ps(ms * kLedgerMs));
  };
  EXPECT_NEAR(exact_staleness(run, at(200), at(300), at(900)).absolute.ms(), 50 + 40, 1e-9);
  std::erase_if(run.events, [&](const LedgerEvent& event) {
    return event.move.kind == LedgerMove::Kind::kMerge && event.move.island == 1 &&
           event.move.round == 3;
  });
  // Round 3 takes what was born in the window. Of island 0's work both hold a quarter in the end,
  // of island 1's three quarters; from 340 ms on half of everything is missing or too much.
  EXPECT_NEAR(exact_staleness(run, at(200), at(300), at(900)).absolute.ms(),
              50 + 40 + 0.5 * (900 - 340), 1e-9);
}

TEST(Ledger, WhatIsNeverCopiedIsOutstandingUntilTheHorizon) {
  const LedgerRun run{2, {}, {}, {}};
  EXPECT_NEAR(exact_staleness(run, Instant{}, Instant{} + Duration{100'000'000'000},
                              Instant{} + Duration{500'000'000'000})
                  .absolute.ms(),
              450, 1e-9);
}

}  // namespace
}  // namespace cotillion
