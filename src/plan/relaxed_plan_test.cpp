// Relaxed plans: which there are, rounds of their own lengths, and what files keep of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plan/file/plan_file.hpp"
#include "plan/file/plan_loader.hpp"
#include "plan/named_schedule.hpp"
#include "plan/plan.hpp"
#include "plan/replay.hpp"
#include "plan/round_lengths.hpp"
#include "tests/support/base/sanitized.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Bytes kPlenty{32'000'000'000};

PlanSettings relaxed(const char* names, Objective objective = Objective::kPaper) {
  PlanSettings settings;
  settings.relax = *relaxations_named(names);
  settings.objective = objective;
  settings.fragments = 64;
  return settings;
}

TEST(Relaxations, AreNamedInOneOrderAndUnknownOnesAreRefused) {
  EXPECT_THAT(to_names(*relaxations_named("routes,lengths")), ElementsAre("lengths", "routes"));
  EXPECT_THAT(to_names(*relaxations_named("all")), ElementsAre("lengths", "overlap", "routes"));
  EXPECT_FALSE(relaxations_named("")->any());
  EXPECT_THAT(relaxations_named("routes,lenghts").error().message, HasSubstr("'lenghts'"));
}

TEST(Lengths, EachRoundIsAsLongAsItNeeds) {
  const auto nine = testing::nine_cities(Bytes{0});
  const auto schedule = named_schedule("triangles", nine->map, nine->routes);
  const Plan plan = make_plan(nine->network, *schedule, relaxed("lengths"));
  const Plan equal = make_plan(nine->network, *schedule);
  EXPECT_LT(plan.staleness(), equal.staleness());
  RealDuration start;
  for (const PlannedRound& round : plan.rounds) {
    EXPECT_GE(round.length.ps, round.planned.ps);
    EXPECT_EQ(round.start.ps, start.ps);
    start = start + round.length;
  }
  EXPECT_EQ(plan.round.ps, equal.round.ps);  // the dearest still is
}

// Two rounds of lengths x and y, of which the second mixes nothing: J = ((x² + y²)/2 + e(1)…)/…
TEST(Lengths, ARoundOfLengthZeroChangesNothing) {
  const auto nine = testing::nine_cities(kPlenty);
  Schedule schedule = *named_schedule("all-to-all", nine->map, nine->routes);
  const Plan once = make_plan(nine->network, schedule, relaxed("lengths"));
  schedule.rounds.push_back(completed({}, nine->map.island_count()));  // everybody rests
  const Plan with_rest = make_plan(nine->network, schedule, relaxed("lengths"));
  EXPECT_NEAR(with_rest.staleness().ps, once.staleness().ps, 1e-9 * once.staleness().ps);
}

TEST(Lengths, NoOtherLengthsAreBetter) {
  for (std::uint64_t seed = 1; seed <= (testing::kSanitized ? 5 : 60); ++seed) {
    const Schedule schedule = testing::random_schedule(6, 3, seed);
    const Mixing mixing = mix(schedule, 6);
    if (mixing.phases.empty()) continue;
    std::vector<RealDuration> least, delays;
    for (int k = 0; k < 3; ++k) {
      least.push_back(
          RealDuration::from_ps(1e11 * double(1 + (seed * 7 + std::uint64_t(k) * 5) % 9)));
      delays.push_back(least.back());
    }
    for (const Objective objective : kObjectives) {
      const auto best = best_lengths(objective, mixing, least, delays);
      const double value = staleness(objective, mixing, best, delays).ps;
      for (std::size_t r = 0; r < best.size(); ++r)
        for (const double factor : {0.5, 0.9, 0.999, 1.001, 1.1, 2.0}) {
          auto other = best;
          other[r] = std::max(least[r], best[r] * factor);
          EXPECT_GE(staleness(objective, mixing, other, delays).ps, value * (1 - 1e-9))
              << "seed " << seed << " round " << r << " times " << factor;
        }
    }
  }
}

TEST(ExactStaleness, IsTheFormulaWhereRoundsEndAndModelsAreWhole) {
  const auto nine = testing::nine_cities(kPlenty);
  for (const char* name : {"triangles", "pairs", "regional", "all-to-all"})
    for (const char* relax : {"", "lengths", "routes"}) {
      const Plan plan =
          make_plan(nine->network, *named_schedule(name, nine->map, nine->routes), relaxed(relax));
      const auto exact = exact_staleness(nine->network, plan);
      for (const Objective whole : {Objective::kPaper, Objective::kSquared})
        EXPECT_NEAR(exact[std::size_t(whole)].ps, plan.objective(whole).ps,
                    1e-9 * plan.objective(whole).ps)
            << name << " " << relax;
      for (const Objective streamed : {Objective::kPaperStreamed, Objective::kSquaredStreamed})
        EXPECT_LE(exact[std::size_t(streamed)].ps, plan.objective(streamed).ps * (1 + 1e-9))
            << name << " " << relax;
    }
}

TEST(PlanFile, OfARelaxedPlanReadsBackWhole) {
  const auto nine = testing::nine_cities(kPlenty);
  for (const char* relax : {"lengths", "overlap", "routes", "all"}) {
    const Plan plan =
        make_plan(nine->network, *named_schedule("triangles", nine->map, nine->routes),
                  relaxed(relax, Objective::kPaperStreamed));
    const Json json = to_json(nine->network, plan, Provenance{});
    const auto read = read_plan(json.dump(), "plan.json");
    ASSERT_TRUE(read.has_value()) << relax << ": " << to_text(read.error()[0]);
    EXPECT_EQ(read->plan.settings.relax, plan.settings.relax);
    EXPECT_EQ(read->plan.overlapped, plan.overlapped);
    EXPECT_EQ(read->plan.staleness().ps, plan.staleness().ps);
    for (std::size_t k = 0; k < plan.rounds.size(); ++k) {
      EXPECT_EQ(read->plan.rounds[k].length.ps, plan.rounds[k].length.ps);
      for (std::size_t c = 0; c < plan.rounds[k].cliques.size(); ++c) {
        const auto& mine = plan.rounds[k].cliques[c].sums;
        const auto& theirs = read->plan.rounds[k].cliques[c].sums;
        ASSERT_EQ(theirs.size(), mine.size());
        for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(theirs[i].ps, mine[i].ps);
      }
    }
  }
}

TEST(PlanFile, OfThePaperNamesNoRelaxation) {
  const auto nine = testing::nine_cities(kPlenty);
  const Plan plan = make_plan(nine->network, *named_schedule("pairs", nine->map, nine->routes));
  const Json json = to_json(nine->network, plan, Provenance{});
  for (const char* field : {"relax", "period_ms", "overlapped", "headroom", "unrounded"})
    EXPECT_FALSE(json.contains(field)) << field;
}

}  // namespace
}  // namespace cotillion
