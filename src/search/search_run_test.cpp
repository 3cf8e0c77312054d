#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "plan/named_schedule.hpp"
#include "tests/support/base/sanitized.hpp"
#include "tests/support/search/searches.hpp"

namespace cotillion {
namespace {

using testing::alone;
using testing::fixture_of;
using testing::MapFixture;
using testing::nine_cities;
using testing::random_map;

constexpr Bytes kNone{0};
constexpr Bytes kV80{32'000'000'000};

// As many threads as asked for; whoever is free takes the next task.
class Threads : public Workers {
 public:
  explicit Threads(int count) : count_(count) {}
  [[nodiscard]] int count() const override { return count_; }
  void run(int tasks, const std::function<void(int, int)>& work) override {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (int worker = 0; worker < count_; ++worker)
      threads.emplace_back([&, worker] {
        for (int task = next++; task < tasks; task = next++) work(task, worker);
      });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  int count_;
};

// The last task first, by workers in turn.
class Backwards : public Workers {
 public:
  [[nodiscard]] int count() const override { return 3; }
  void run(int tasks, const std::function<void(int, int)>& work) override {
    for (int task = tasks; task-- > 0;) work(task, task % 3);
  }
};

// Islands around a router, all alike, and nothing in the way: only mixing matters.
std::unique_ptr<MapFixture> star_fixture(int islands) {
  Map map;
  map.name = fmt::format("star of {}", islands);
  map.payload = {1'000'000'000};
  map.edge.memory = kV80;
  map.routers.push_back({"R", {}});
  for (IslandId i = 0; i < islands; ++i) {
    map.islands.push_back({fmt::format("I{:03}", int(i)), "", "", {}, {2e10}, {2e10}});
    map.aggregators.push_back({i, map.edge, {i}});
    const Duration flight{10'000'000'000};
    map.links.push_back({{i, PlaceId(islands)}, {flight, flight}, {{1e15}, {1e15}}});
  }
  return fixture_of(std::move(map));
}

SearchSettings annealing(std::int64_t steps, std::uint64_t seed = 1) {
  SearchSettings settings;
  settings.exact = false;
  settings.steps = steps;
  settings.seed = seed;
  return settings;
}

TEST(Search, TheAnswerDependsOnSeedAndStepsNotOnWhoWorks) {
  const auto small = testing::kSanitized ? fixture_of(random_map(6, 6)) : nine_cities(kNone);
  const auto large = fixture_of(random_map(testing::kSanitized ? 12 : 24, 6));
  for (const MapFixture* fixture : {small.get(), large.get()})
    for (const bool exact : {true, false}) {
      SearchSettings settings = annealing(testing::kSanitized ? 2'000 : 12'000, 7);
      settings.exact = exact;
      settings.frontier_points = exact ? 0 : 3;
      const SearchResult one = alone(*fixture, settings);
      ASSERT_TRUE(one.found);
      Threads two(2);
      Backwards backwards;
      for (Workers* workers : {static_cast<Workers*>(&two), static_cast<Workers*>(&backwards)}) {
        const SearchResult other = search(fixture->network, settings, *workers);
        EXPECT_EQ(one.schedule.rounds, other.schedule.rounds) << fixture->map.name;
        EXPECT_EQ(one.plan.staleness(), other.plan.staleness());
        EXPECT_EQ(one.bound, other.bound);
        EXPECT_EQ(one.evaluated, other.evaluated);
        ASSERT_EQ(one.trace.size(), other.trace.size());
        for (std::size_t k = 0; k < one.trace.size(); ++k)
          EXPECT_EQ(one.trace[k].incumbent, other.trace[k].incumbent);
        ASSERT_EQ(one.frontier.size(), other.frontier.size());
        for (std::size_t k = 0; k < one.frontier.size(); ++k)
          EXPECT_EQ(one.frontier[k].area, other.frontier[k].area);
      }
    }
}

TEST(Search, AnnealingAloneReachesTheCertifiedOptimumOfNineCities) {
  for (const auto& [memory, best_ms] : {std::pair(kNone, 1231.2000), {kV80, 967.6095}}) {
    const auto fixture = nine_cities(memory);
    int reached = 0;
    for (std::uint64_t seed = 1; seed <= (testing::kSanitized ? 1 : 10); ++seed) {
      const SearchResult found = alone(*fixture, annealing(60'000, seed));
      EXPECT_FALSE(found.certified);
      reached += found.plan.staleness().ms() <= best_ms + 1e-4 ? 1 : 0;
    }
    EXPECT_GE(reached, testing::kSanitized ? 0 : 9) << to_text(memory);
  }
}

TEST(Search, MixesAsWellAsIsKnownToBePossible) {
  struct Known {
    int islands, clique_max;
    double area;
  };
  for (const Known& known :
       {Known{10, 3, 2.21}, Known{12, 3, 2.23}, Known{15, 3, 2.45}, Known{20, 4, 2.13}}) {
    if (testing::kSanitized && known.islands > 10) continue;
    const auto fixture = star_fixture(known.islands);
    SearchSettings settings = annealing(400'000);
    settings.constraints.clique_max = known.clique_max;
    const SearchResult found = alone(*fixture, settings);
    ASSERT_TRUE(found.found);
    EXPECT_LE(found.plan.mixing.area, known.area) << known.islands << " by " << known.clique_max;
    EXPECT_LE(found.bound, found.plan.staleness());
    for (const Round& round : found.schedule.rounds)
      for (const Clique& clique : round.cliques) EXPECT_LE(clique.size(), known.clique_max);
  }
}

TEST(Search, StopsSoonWhenAskedAndKeepsWhatItHas) {
  const auto fixture = fixture_of(random_map(20, 8));
  for (const int timeout : {0, 100, 400}) {
    std::atomic<int> asked{0};
    SearchSettings settings = annealing(1'000'000'000);
    settings.stop = [&] { return ++asked > timeout; };
    const SearchResult found = alone(*fixture, settings);
    EXPECT_TRUE(found.stopped);
    EXPECT_LT(asked, timeout + 400);
    EXPECT_LT(found.evaluated, 1'000'000);
    // However early: named seeds are always priced.
    ASSERT_TRUE(found.found);
    EXPECT_TRUE(std::isfinite(found.plan.staleness().ps));
  }
}

TEST(Search, ProgressOnlyEverImproves) {
  const auto fixture = fixture_of(random_map(16, 3));
  for (const int threads : {1, 2}) {
    SearchSettings settings = annealing(60'000);
    std::mutex mutex;
    std::vector<SearchProgress> told;
    settings.progress = [&](const SearchProgress& progress) {
      const std::lock_guard lock(mutex);
      told.push_back(progress);
    };
    Threads workers(threads);
    const SearchResult found = search(fixture->network, settings, workers);
    ASSERT_GT(told.size(), 10u);
    for (std::size_t k = 1; k < told.size(); ++k) {
      ASSERT_LE(told[k].incumbent, told[k - 1].incumbent) << told[k].doing;
      ASSERT_GE(told[k].bound, told[k - 1].bound) << told[k].doing;
      ASSERT_GE(told[k].evaluated, told[k - 1].evaluated) << told[k].doing;
    }
    ASSERT_FALSE(found.trace.empty());
    for (std::size_t k = 1; k < found.trace.size(); ++k) {
      EXPECT_LE(found.trace[k].incumbent, found.trace[k - 1].incumbent);
      EXPECT_GE(found.trace[k].evaluated, found.trace[k - 1].evaluated);
    }
    EXPECT_NEAR(found.trace.back().incumbent.ps, found.plan.staleness().ps,
                1e-3 * found.plan.staleness().ps);
  }
}

TEST(Search, WhatIsResumedIsNeverMadeWorse) {
  const auto fixture = fixture_of(testing::example_map("geant"));
  SearchSettings settings = annealing(testing::kSanitized ? 3'000 : 30'000);
  const SearchResult first = alone(*fixture, settings);
  settings.steps = 60;
  settings.seed = 2;
  const SearchResult second = alone(*fixture, settings);
  if (!testing::kSanitized) {
    EXPECT_LT(first.plan.staleness(), second.plan.staleness());
  }
  settings.starts = {first.schedule};
  EXPECT_LE(alone(*fixture, settings).plan.staleness().ps, first.plan.staleness().ps * (1 + 1e-12));
}

TEST(Search, IsNoWorseThanAnySeedOrNamedSchedule) {
  const auto fixture = fixture_of(random_map(15, 5));
  const SearchResult found = alone(*fixture, annealing(20'000));
  ASSERT_FALSE(found.families.empty());
  for (const SeedScore& family : found.families)
    EXPECT_LE(found.plan.staleness().ps, family.staleness.ps * (1 + 1e-4)) << family.family;
  for (const ScheduleName& name : schedule_names())
    if (const auto named = named_schedule(name.name, fixture->map, fixture->routes)) {
      EXPECT_LE(found.plan.staleness(), make_plan(fixture->network, *named).staleness())
          << name.name;
    }
  EXPECT_LE(found.bound, found.plan.staleness());
  EXPECT_GE(found.gap(), 0);
}

}  // namespace
}  // namespace cotillion
