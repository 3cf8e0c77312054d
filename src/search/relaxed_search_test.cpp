// Searches with relaxations: never worse than without, above their bound, and asked why.
#include <gtest/gtest.h>

#include <algorithm>

#include "search/why.hpp"
#include "tests/support/search/searches.hpp"

namespace cotillion {
namespace {

SearchSettings relaxed_search(const char* relax, Objective objective) {
  SearchSettings settings;
  settings.plan.relax = *relaxations_named(relax);
  settings.plan.objective = objective;
  settings.steps = 4'000;
  settings.constraints.period_max = 2;
  return settings;
}

TEST(RelaxedSearch, IsNeverWorseThanWithoutAndNeverBelowItsBound) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto fixture = testing::fixture_of(testing::random_map(5, seed));
    for (const Objective objective : {Objective::kPaper, Objective::kPaperStreamed}) {
      const SearchResult plain = testing::alone(*fixture, relaxed_search("", objective));
      for (const char* relax : {"lengths", "overlap", "routes", "all"}) {
        const SearchResult found = testing::alone(*fixture, relaxed_search(relax, objective));
        ASSERT_TRUE(found.found);
        EXPECT_LE(found.plan.staleness().ps, plain.plan.staleness().ps * (1 + 1e-12)) << relax;
        EXPECT_GT(found.bound.ps, 0);
        EXPECT_LE(found.bound, found.plan.staleness());
        EXPECT_FALSE(found.certified);
      }
    }
  }
}

TEST(RelaxedSearch, WhyAsksEverythingAndWhatHelpsComesFirst) {
  const auto fixture = testing::fixture_of(testing::random_map(5, 1));
  const SearchSettings settings = relaxed_search("all", Objective::kPaper);
  const SearchResult found = testing::alone(*fixture, settings);
  Alone workers;
  const Why answer = why(fixture->network, settings, found, WhyCare::kEverything, workers);
  EXPECT_TRUE(answer.asked && answer.complete);
  const auto absences =
      std::count_if(answer.worths.begin(), answer.worths.end(),
                    [](const Worth& worth) { return worth.kind == Worth::Kind::kAbsence; });
  EXPECT_EQ(absences, std::ptrdiff_t(fixture->map.links.size()));
  EXPECT_GE(answer.worths.size(), fixture->map.links.size() * 2 + fixture->map.islands.size());
  bool lost = false;
  for (const Worth& worth : answer.worths) {
    EXPECT_LE(worth.replanned, worth.kept);
    if (worth.kind != Worth::Kind::kAbsence) continue;
    const bool helps = worth.replanned < answer.baseline;
    EXPECT_FALSE(helps && lost) << worth.what;
    lost = lost || !helps;
  }
}

}  // namespace
}  // namespace cotillion
