// What a search promises beyond a low objective: constraints hold, and odd maps do no harm.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/base/sanitized.hpp"
#include "tests/support/search/searches.hpp"

namespace cotillion {
namespace {

using testing::alone;
using testing::example_map;
using testing::fixture_of;
using testing::MapFixture;
using testing::random_map;
using testing::with_memory;

SearchSettings short_search(bool exact = false) {
  SearchSettings settings;
  settings.exact = exact;
  settings.steps = 8'000;
  return settings;
}

// Bytes per second that an island sends, as the plan has it.
double egress(const MapFixture& fixture, const Plan& plan, IslandId island) {
  double bytes = 0, seconds = 0;
  for (const PlannedRound& round : plan.rounds) {
    seconds += round.length.seconds();
    for (const LaneUse& use : round.lanes)
      if (use.lane == lane_up(fixture.map, island)) bytes += double(use.bytes.count);
  }
  return bytes / seconds;
}

TEST(SearchRules, AnswersObeyEveryConstraint) {
  Constraints apart, together, small, brief, busy, pinned, all;
  apart.apart = {{0, 1, 2}, {3, 4}};
  together.together = {{0, 5}, {2, 4}};
  small.clique_max = 2;
  brief.period_max = 2;
  busy.may_rest = std::vector<IslandId>{1};
  pinned.pinned = {completed({{{0, 1, 2, 3}, {}}}, 6), completed({{{3, 4, 5}, {}}}, 6)};
  all.apart = {{0, 1}};
  all.together = {{2, 3}};
  all.clique_max = 4;
  all.period_max = 3;
  all.may_rest = std::vector<IslandId>{5, 0};
  all.pinned = {completed({{{0, 4, 5}, {}}}, 6)};
  const auto six = fixture_of(random_map(6, 3)), nine = fixture_of(example_map("nine-cities")),
             twelve = fixture_of(random_map(12, 2));
  for (Constraints constraints : {apart, together, small, brief, busy, pinned, all})
    for (const MapFixture* fixture : {six.get(), nine.get(), twelve.get()}) {
      if (testing::kSanitized && fixture != six.get()) break;
      const int n = fixture->map.island_count();
      for (Round& round : constraints.pinned) {
        std::vector<Clique> cliques = round.cliques;
        round = completed(std::move(cliques), n);  // whoever is new rests
      }
      const bool exact = n == 6;
      SearchSettings settings = short_search(exact);
      settings.constraints = constraints;
      const SearchResult found = alone(*fixture, settings);
      ASSERT_TRUE(found.found) << fixture->map.name;
      const Rules rules(fixture->network, constraints);
      EXPECT_TRUE(rules.allows(found.schedule)) << fixture->map.name;
      EXPECT_LE(int(found.schedule.rounds.size()), found.period_annealed);
      EXPECT_LE(found.bound, found.plan.staleness());
      EXPECT_EQ(found.period_proven == found.period_max, exact);
      EXPECT_EQ(found.certified, exact && int(found.schedule.rounds.size()) <= found.period_max);
    }
}

// A proof is broken off as well, whatever it is at; then it is none.
TEST(SearchRules, ProofsStopWhenAsked) {
  const auto fixture = fixture_of(random_map(6, 3));
  SearchSettings settings = short_search(true);
  settings.constraints.clique_max = 2;
  const SearchResult whole = alone(*fixture, settings);
  ASSERT_TRUE(whole.certified);
  for (const int timeout : {0, 8, 20}) {
    bool proving = false;
    int asked = 0;
    settings.progress = [&](const SearchProgress& progress) {
      proving = progress.doing.starts_with("proof");
    };
    settings.stop = [&] { return proving && ++asked > timeout; };
    const SearchResult found = alone(*fixture, settings);
    EXPECT_TRUE(found.stopped) << "asked " << asked << " times";
    EXPECT_FALSE(found.certified) << "timeout " << timeout;
    EXPECT_TRUE(found.found);
    EXPECT_LT(found.evaluated, whole.evaluated);
  }
}

// A period of four beats all that the proof covers, which then certifies nothing.
TEST(SearchRules, LongerPeriodsAreAnnealedAfterTheProof) {
  if (testing::is_left_to_make_sanitize()) GTEST_SKIP() << testing::kLeftToMakeSanitize;
  const auto fixture = fixture_of(with_memory(random_map(7, 8), {0}));
  SearchSettings settings = short_search(true);
  settings.steps = 24'000;
  const SearchResult longer = alone(*fixture, settings);
  ASSERT_TRUE(longer.found && longer.proven);
  EXPECT_EQ(longer.period_proven, 3);
  EXPECT_EQ(longer.period_max, 3);
  EXPECT_EQ(longer.period_annealed, kAnnealedPeriod);
  EXPECT_GT(int(longer.schedule.rounds.size()), 3);
  EXPECT_LT(longer.plan.staleness(), *longer.proven);
  EXPECT_FALSE(longer.certified);
  EXPECT_LT(longer.bound, longer.plan.staleness());

  settings.constraints.period_max = 3;
  const SearchResult brief = alone(*fixture, settings);
  EXPECT_TRUE(brief.certified);
  EXPECT_EQ(brief.period_annealed, 3);
  EXPECT_EQ(brief.plan.staleness(), *longer.proven);
  EXPECT_EQ(*brief.proven, *longer.proven);

  // What is resumed is longer than what is proven, and no worse for it.
  settings.constraints.period_max = 0;
  settings.steps = 600;
  settings.starts = {longer.schedule};
  const SearchResult resumed = alone(*fixture, settings);
  EXPECT_EQ(resumed.period_max, 3);
  EXPECT_LE(resumed.plan.staleness(), longer.plan.staleness());
}

TEST(SearchRules, IslandsSendNoMoreThanTheirCap) {
  for (const Technology technology : {Technology{true, true}, Technology{false, true}})
    for (const bool exact : {true, false}) {
      const auto fixture =
          fixture_of(exact ? random_map(6, 9) : example_map("nine-cities"), {technology, false});
      if (testing::kSanitized && (!exact || technology.multicast)) continue;
      SearchSettings settings = short_search(exact);
      const SearchResult free = alone(*fixture, settings);
      settings.plan.egress_most.assign(fixture->map.islands.size(),
                                       std::numeric_limits<double>::infinity());
      settings.plan.egress_most[0] = 0.4 * egress(*fixture, free.plan, 0);
      settings.plan.egress_most[4] = 0.6 * egress(*fixture, free.plan, 4);
      const SearchResult capped = alone(*fixture, settings);
      ASSERT_TRUE(capped.found);
      for (const IslandId island : {IslandId(0), IslandId(4)})
        EXPECT_LE(egress(*fixture, capped.plan, island),
                  settings.plan.egress_most[island] * (1 + 1e-9));
      EXPECT_GE(capped.plan.staleness().ps, free.plan.staleness().ps * (1 - 1e-9));
      // No worse than the free one, played more slowly.
      EXPECT_LE(
          capped.plan.staleness().ps,
          make_plan(fixture->network, free.schedule, settings.plan).staleness().ps * (1 + 1e-9));
      EXPECT_LE(capped.bound, capped.plan.staleness());
    }
}

TEST(SearchRules, EveryObjectiveHasABoundBelowItsAnswer) {
  for (const Objective objective : kObjectives)
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const auto fixture = fixture_of(random_map(6 + 4 * int(seed), seed));
      SearchSettings settings = short_search();
      settings.plan.objective = objective;
      const SearchResult found = alone(*fixture, settings);
      ASSERT_TRUE(found.found);
      EXPECT_GT(found.bound.ps, 0) << to_name(objective) << ", seed " << seed;
      EXPECT_LE(found.bound, found.plan.staleness()) << to_name(objective) << ", seed " << seed;
      EXPECT_FALSE(found.bound_reason.empty());
    }
}

// However few the steps, it begins from there; above nine islands and with a proof alike.
TEST(SearchRules, AStreamedAnswerIsNoWorseThanWholeRoundsLeadTo) {
  const std::pair<Objective, Objective> both[] = {
      {Objective::kPaper, Objective::kPaperStreamed},
      {Objective::kSquared, Objective::kSquaredStreamed}};
  for (const auto& [whole, streamed] : both)
    for (const int islands : {6, 14, 20}) {
      const auto fixture = fixture_of(random_map(islands, 11));
      SearchSettings settings = short_search(islands == 6);
      settings.steps = 3'000;
      settings.plan.objective = whole;
      const SearchResult before = alone(*fixture, settings);
      settings.plan.objective = streamed;
      const SearchResult after = alone(*fixture, settings);
      ASSERT_TRUE(before.found && after.found);
      const double known_ps = before.plan.objectives[std::size_t(streamed)].ps;
      EXPECT_LE(after.plan.staleness().ps, known_ps * (1 + 1e-9)) << islands << " islands";
      const auto is_whole = [](const SeedScore& seed) { return seed.family == kWholeFamily; };
      EXPECT_TRUE(std::any_of(after.families.begin(), after.families.end(), is_whole));
    }
}

TEST(SearchRules, OneIslandAndTwoAreEasy) {
  for (const bool exact : {true, false})
    for (const double slack_ps : {0.0, 5e9}) {
      SearchSettings settings = short_search(exact);
      settings.plan.slack = RealDuration::from_ps(slack_ps);
      const auto one = fixture_of(random_map(1, 1));
      const SearchResult lonely = alone(*one, settings);
      ASSERT_TRUE(lonely.found);
      EXPECT_EQ(lonely.plan.mixing.area, 0);
      EXPECT_EQ(lonely.certified, exact);
      const auto two = fixture_of(random_map(2, 1));
      const SearchResult pair = alone(*two, settings);
      ASSERT_TRUE(pair.found);
      ASSERT_EQ(pair.schedule.rounds.size(), 1u);
      EXPECT_EQ(pair.schedule.rounds[0].cliques[0].islands, (std::vector<IslandId>{0, 1}));
      EXPECT_EQ(pair.certified, exact);
    }
}

TEST(SearchRules, SaysSoWhenNothingIsPossible) {
  // Nobody may rest, and the only clique of all three chases itself round without memory.
  const auto triangle = fixture_of(with_memory(example_map("asymmetric-triangle"), {0}));
  SearchSettings settings = short_search();
  settings.constraints.may_rest = std::vector<IslandId>{};
  // Two halves that must not meet; nobody meets anybody; two rules against each other.
  const auto six = fixture_of(random_map(6, 4)), twelve = fixture_of(random_map(12, 4));
  SearchSettings halves = short_search(), nobody = short_search(), both = short_search();
  for (IslandId a = 0; a < 3; ++a)
    for (IslandId b = 3; b < 6; ++b) halves.constraints.apart.push_back({a, b});
  nobody.constraints.clique_max = 1;
  nobody.plan.slack = RealDuration::from_ps(1e9);
  both.constraints.together = both.constraints.apart = {{0, 1}};
  for (const bool exact : {true, false}) {
    for (SearchSettings* each : {&settings, &halves, &nobody, &both}) each->exact = exact;
    EXPECT_FALSE(alone(*triangle, settings).found);
    halves.constraints.period_max = 2;
    EXPECT_FALSE(alone(*six, halves).found);
    EXPECT_FALSE(alone(*six, nobody).found);
    EXPECT_FALSE(alone(*twelve, nobody).found);
    EXPECT_FALSE(alone(*six, both).found);
    EXPECT_FALSE(alone(*twelve, both).found);
  }
}

TEST(SearchRules, NoCliqueIsLargerThanTheWireAllows) {
  const int n = 70;
  Map map = random_map(n, 1);
  for (Link& link : map.links)
    for (int way = 0; way < 2; ++way) {
      link.latency[way] = {1'000'000'000};
      link.rate[way] = {1e15};
    }
  for (Island& island : map.islands) island.up = island.down = {2e10};
  const auto fixture = fixture_of(with_memory(map, {32'000'000'000}));
  SearchSettings settings = short_search();
  settings.steps = 3'000;
  const SearchResult found = alone(*fixture, settings);
  ASSERT_TRUE(found.found);
  EXPECT_TRUE(found.plan.runnable);
  int largest = 0;
  for (const Round& round : found.schedule.rounds)
    for (const Clique& clique : round.cliques) largest = std::max(largest, clique.size());
  EXPECT_LE(largest, 64);
  EXPECT_GE(largest, 30) << "nothing speaks against large ones here";
}

}  // namespace
}  // namespace cotillion
