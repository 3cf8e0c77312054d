#include "search/area_meter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "base/infinity.hpp"
#include "base/random.hpp"
#include "plan/mixing.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::random_schedule;
using Care = AreaMeter::Care;

// Relative, of the area. An annealer's tail is closed early: four digits is what it says it
// needs, and no schedule of these tests is further off than three.
constexpr double kExact = 1e-9;
constexpr double kRough = 1e-3;

std::deque<Grouping> groupings_of(const Schedule& schedule, int n) {
  std::deque<Grouping> groups;
  for (const Round& round : schedule.rounds) groups.emplace_back(round, n);
  return groups;
}

std::vector<const Grouping*> addresses(const std::deque<Grouping>& groups) {
  std::vector<const Grouping*> rounds;
  for (const Grouping& group : groups) rounds.push_back(&group);
  return rounds;
}

double true_area(const Schedule& schedule, int n, bool squared) {
  const Mixing mixing = mix(schedule, n);
  return squared ? mixing.area_squared : mixing.area;
}

// A random schedule that connects everybody, of 2 to 24 islands and 1 to 6 rounds.
struct Drawn {
  int n;
  Schedule schedule;
};
Drawn draw(std::uint64_t seed) {
  Random random(seed);
  for (;;) {
    const int n = int(random.between(2, 24)), period = int(random.between(1, 6));
    Schedule schedule = random_schedule(n, period, random.next());
    if (connects_all(schedule, n)) return {n, std::move(schedule)};
  }
}

// An island moves to another group of the round, or to one of its own.
Round nudged(const Round& round, int n, Random& random) {
  const auto island = IslandId(random.between(0, n - 1));
  std::vector<Clique> cliques = round.cliques;
  for (Clique& clique : cliques) std::erase(clique.islands, island);
  const auto to = std::size_t(random.between(0, std::int64_t(cliques.size())));
  if (to == cliques.size())
    cliques.push_back({{island}, {}});
  else
    cliques[to].islands.push_back(island);
  return completed(std::move(cliques), n);
}

TEST(AreaMeter, MeasuresWhatTheMixingSays) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto [n, schedule] = draw(seed);
    const auto groups = groupings_of(schedule, n);
    for (const bool squared : {false, true}) {
      const double area = true_area(schedule, n, squared);
      if (std::isinf(area)) continue;
      AreaMeter proof(n, squared, Care::kProof), rough(n, squared, Care::kSearch);
      ASSERT_NEAR(proof.start(addresses(groups), kInfinity), area, kExact * area)
          << "seed " << seed << (squared ? ", squared" : "");
      ASSERT_NEAR(rough.start(addresses(groups), kInfinity), area, kRough * area)
          << "seed " << seed << (squared ? ", squared" : "");
    }
  }
}

// Two schedules whose curves fall by the same factor twice in a row long before they do so for
// good: a tail closed there is 2e-4 off.
TEST(AreaMeter, IsNotFooledByAFactorThatHappensToRepeat) {
  const auto expect = [](const std::vector<std::vector<std::vector<IslandId>>>& rounds, int n,
                         double area) {
    Schedule schedule;
    for (const auto& groups : rounds) {
      std::vector<Clique> cliques;
      for (const auto& group : groups) cliques.push_back({group, {}});
      schedule.rounds.push_back(completed(std::move(cliques), n));
    }
    const auto groups = groupings_of(schedule, n);
    EXPECT_NEAR(AreaMeter(n, false, Care::kProof).start(addresses(groups), kInfinity), area, 1e-9);
  };
  expect({{{0, 5}, {1, 2}, {4, 6, 8, 9}}, {{0, 2, 4, 6, 8}, {1, 7}, {3, 5, 9}}}, 10, 3.9);
  expect({{{3, 4}}, {{0, 4}, {2, 3}}, {{0, 1, 5}, {2, 3}}, {{0, 1, 3, 4}}}, 6, 4.0916666666667);
}

TEST(AreaMeter, SaysThatStrangersNeverSettle) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    // Two halves that never meet, each mixed at random.
    const int half = 2 + int(seed % 5), n = 2 * half;
    Schedule schedule = random_schedule(half, 2 + int(seed % 3), seed);
    for (Round& round : schedule.rounds) {
      std::vector<Clique> both = round.cliques;
      for (Clique clique : round.cliques) {
        for (IslandId& island : clique.islands) island = IslandId(island + half);
        both.push_back(std::move(clique));
      }
      round = completed(std::move(both), n);
    }
    const auto groups = groupings_of(schedule, n);
    for (const bool squared : {false, true})
      for (const Care care : {Care::kProof, Care::kSearch})
        ASSERT_GT(AreaMeter(n, squared, care).start(addresses(groups), kInfinity), 1e6)
            << "seed " << seed;
  }
}

TEST(AreaMeter, AgreesWithAFreshStartAfterHundredsOfChanges) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    const int n = int(random.between(4, 20)), period = int(random.between(1, 6));
    const bool squared = seed % 2 == 1;
    Schedule schedule = random_schedule(n, period, random.next());
    // One round of everybody, so that it settles at first whatever the others are.
    std::vector<IslandId> all;
    for (IslandId i = 0; i < n; ++i) all.push_back(i);
    schedule.rounds.front() = completed({{all, {}}}, n);
    std::deque<Grouping> kept = groupings_of(schedule, n);  // what has been current stays valid
    AreaMeter meter(n, squared, Care::kProof);
    ASSERT_LT(meter.start(addresses(kept), kInfinity), kInfinity);
    int accepted = 0;
    for (int step = 0; step < 300; ++step) {
      const int r = int(random.between(0, period - 1));
      Schedule next = schedule;
      next.rounds[r] = nudged(schedule.rounds[r], n, random);
      kept.emplace_back(next.rounds[r], n);
      if (!connects_all(next, n)) continue;
      const double area = meter.changed(r, kept.back(), 50);
      const auto fresh = groupings_of(next, n);
      const double expected = AreaMeter(n, squared, Care::kProof).start(addresses(fresh), 50);
      if (std::isinf(expected)) {
        ASSERT_EQ(area, kInfinity) << "seed " << seed << ", step " << step;
        continue;
      }
      ASSERT_NEAR(area, expected, kExact * expected) << "seed " << seed << ", step " << step;
      if (random.between(0, 2) == 0) continue;  // refused for other reasons
      meter.accept();
      schedule = std::move(next);
      ++accepted;
    }
    EXPECT_TRUE(period == 1 || accepted > 20) << "seed " << seed;
    const double area = true_area(schedule, n, squared);
    const auto groups = groupings_of(schedule, n);
    ASSERT_NEAR(AreaMeter(n, squared, Care::kProof).start(addresses(groups), kInfinity), area,
                kExact * area);
  }
}

TEST(AreaMeter, IsInfiniteExactlyAboveItsLimit) {
  int above = 0, below = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto [n, schedule] = draw(seed ^ 0x6c696d6974);
    const auto groups = groupings_of(schedule, n);
    const double area = true_area(schedule, n, false);
    if (std::isinf(area)) continue;
    AreaMeter meter(n, false, Care::kProof);
    Random random(seed);
    for (const double factor : {1 - 1e-7, 1 + 1e-7, 0.5 + random.unit()}) {
      const double limit = area * factor;
      const double found = meter.start(addresses(groups), limit);
      if (area > limit) {
        ASSERT_EQ(found, kInfinity) << "seed " << seed << ", limit " << limit;
        ++above;
      } else {
        ASSERT_NEAR(found, area, kExact * area) << "seed " << seed << ", limit " << limit;
        ++below;
      }
    }
  }
  EXPECT_GT(std::min(above, below), 100);
}

TEST(AreaMeter, GoesOnAfterARefusalAsIfNothingHadBeenAsked) {
  const int n = 12;
  Random random(5);
  const Schedule schedule = random_schedule(n, 4, 3);
  ASSERT_TRUE(connects_all(schedule, n));
  std::deque<Grouping> groups = groupings_of(schedule, n);
  for (const Care care : {Care::kProof, Care::kSearch}) {
    AreaMeter meter(n, false, care);
    const double area = meter.start(addresses(groups), kInfinity);
    for (int step = 0; step < 50; ++step) {
      const int r = int(random.between(0, 3));
      const Grouping other(nudged(schedule.rounds[r], n, random), n);
      (void)meter.changed(r, other, area * random.unit());  // not accepted
      const double again = meter.changed(r, groups[r], kInfinity);
      ASSERT_NEAR(again, area, kExact * area) << "step " << step;
    }
  }
}

TEST(AreaMeter, ItsQuickBoundIsNeverAboveTheArea) {
  double closest = kInfinity;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto [n, schedule] = draw(seed ^ 0x6c65617374);
    const auto groups = groupings_of(schedule, n);
    for (const bool squared : {false, true}) {
      AreaMeter meter(n, squared, Care::kProof);
      if (std::isinf(meter.start(addresses(groups), kInfinity))) continue;
      Random random(seed);
      const int r = int(random.between(0, std::int64_t(groups.size()) - 1));
      // Two groups become one; or one is cut in two.
      Schedule next = schedule;
      std::vector<int> gone;
      std::vector<std::vector<IslandId>> fresh;
      auto& cliques = next.rounds[r].cliques;
      if (cliques.size() >= 2 && random.between(0, 1) == 0) {
        gone = {0, int(cliques.size()) - 1};
        fresh = {cliques.front().islands};
        fresh[0].insert(fresh[0].end(), cliques.back().islands.begin(),
                        cliques.back().islands.end());
        cliques.front().islands = fresh[0];
        cliques.pop_back();
      } else {
        if (cliques[0].size() < 2) continue;
        gone = {0};
        const std::vector<IslandId> members = cliques[0].islands;
        const auto middle = members.begin() + random.between(1, std::int64_t(members.size()) - 1);
        fresh = {{members.begin(), middle}, {middle, members.end()}};
        cliques[0].islands = fresh[0];
        cliques.push_back({fresh[1], {}});
      }
      next.rounds[r] = completed(std::move(cliques), n);
      const double area = true_area(next, n, squared);
      const double least = meter.least_area(r, gone, fresh);
      ASSERT_LE(least, area * (1 + 1e-12)) << "seed " << seed << (squared ? ", squared" : "");
      closest = std::min(closest, area / least);
    }
  }
  EXPECT_LT(closest, 1.01);  // and somewhere it is reached
}

}  // namespace
}  // namespace cotillion
