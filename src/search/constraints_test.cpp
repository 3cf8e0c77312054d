#include "search/constraints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::example_map;
using testing::fixture_of;
using ::testing::HasSubstr;
using testing::random_map;
using testing::random_schedule;

// Rules keep references to what they were made of.
struct Ruled {
  std::unique_ptr<testing::MapFixture> fixture;
  Constraints constraints;
  Rules rules;
  Ruled(Map map, Constraints given, NetworkModelSettings settings = {})
      : fixture(fixture_of(std::move(map), settings)),
        constraints(std::move(given)),
        rules(fixture->network, constraints) {}
  [[nodiscard]] bool allows(const std::vector<IslandId>& clique) const {
    return rules.allows(std::span<const IslandId>(clique));
  }
};

Round round_of(const std::vector<std::vector<IslandId>>& groups, int n) {
  std::vector<Clique> cliques;
  for (const auto& group : groups) cliques.push_back({group, {}});
  return completed(std::move(cliques), n);
}

TEST(Constraints, NobodyAsksForAnythingAndAllIsAllowed) {
  const Ruled ruled(random_map(6, 1), {});
  EXPECT_TRUE(ruled.allows({0}));
  EXPECT_TRUE(ruled.allows({0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(ruled.rules.contradiction());
  EXPECT_EQ(ruled.rules.period_max(8), 8);
}

TEST(Constraints, CliquesAreNoLargerThanAskedFor) {
  Constraints constraints;
  constraints.clique_max = 3;
  const Ruled ruled(random_map(6, 1), constraints);
  EXPECT_TRUE(ruled.allows({0, 2, 4}));
  EXPECT_FALSE(ruled.allows({0, 2, 4, 5}));
}

TEST(Constraints, CliquesAreNoLargerThanTheWireAllowsUnlessNothingSumsThem) {
  std::vector<IslandId> all;
  for (IslandId i = 0; i < 65; ++i) all.push_back(i);
  const Ruled summed(random_map(65, 1), {});
  EXPECT_EQ(summed.rules.clique_max(), 64);
  EXPECT_FALSE(summed.allows(all));
  const Ruled plain(random_map(65, 1), {}, {{true, false}, false});
  EXPECT_EQ(plain.rules.clique_max(), 65);
  EXPECT_TRUE(plain.allows(all));
  Constraints larger;
  larger.clique_max = 1000;
  EXPECT_FALSE(Ruled(random_map(65, 1), larger).allows(all));
}

TEST(Constraints, SomeMustMeetAndTogetherIsTransitive) {
  Constraints constraints;
  constraints.together = {{0, 1}, {1, 4}};
  const Ruled ruled(random_map(6, 1), constraints);
  EXPECT_TRUE(ruled.allows({0, 1, 4}));
  EXPECT_TRUE(ruled.allows({0, 1, 2, 4}));
  EXPECT_TRUE(ruled.allows({2, 3}));
  EXPECT_FALSE(ruled.allows({0, 1}));
  EXPECT_FALSE(ruled.allows({4, 5}));
  EXPECT_FALSE(ruled.allows({0}));
}

TEST(Constraints, SomeMustNotMeetAndApartIsNotTransitive) {
  Constraints constraints;
  constraints.apart = {{0, 1, 2}, {2, 3}};
  const Ruled ruled(random_map(6, 1), constraints);
  for (const std::vector<IslandId>& clique :
       {std::vector<IslandId>{0, 1}, {1, 2}, {0, 2}, {2, 3}, {0, 2, 5}})
    EXPECT_FALSE(ruled.allows(clique));
  for (const std::vector<IslandId>& clique : {std::vector<IslandId>{0, 3}, {1, 3, 4}, {2, 4, 5}})
    EXPECT_TRUE(ruled.allows(clique));
}

TEST(Constraints, OnlyThoseWhoMayRestDo) {
  Constraints constraints;
  constraints.may_rest = std::vector<IslandId>{2};
  const Ruled ruled(random_map(4, 1), constraints);
  EXPECT_TRUE(ruled.allows({2}));
  EXPECT_FALSE(ruled.allows({0}));
  constraints.may_rest = std::vector<IslandId>{};
  EXPECT_FALSE(Ruled(random_map(4, 1), constraints).allows({2}));
  EXPECT_TRUE(Ruled(random_map(1, 1), constraints).allows({0})) << "whom else could it meet";
}

TEST(Constraints, PeriodsAreNoLongerThanAskedForAndContainWhatIsPinned) {
  const Round whole = round_of({{0, 1, 2, 3}}, 4), pairs = round_of({{0, 1}, {2, 3}}, 4),
              across = round_of({{0, 2}, {1, 3}}, 4);
  Constraints constraints;
  constraints.period_max = 3;
  constraints.clique_max = 2;
  constraints.pinned = {whole, pairs};
  const Ruled ruled(random_map(4, 1), constraints);
  EXPECT_EQ(ruled.rules.period_max(8), 3);
  const auto allows = [&](const std::vector<Round>& rounds) {
    return ruled.rules.allows(Schedule{"", rounds});
  };
  EXPECT_TRUE(allows({pairs, whole}));  // what is pinned is exempt from the other rules
  EXPECT_TRUE(allows({pairs, across, whole}));
  EXPECT_FALSE(allows({pairs, across}));
  EXPECT_FALSE(allows({whole, whole, pairs})) << "only one of them was pinned";
  EXPECT_FALSE(allows({whole, pairs, across, across}));
  EXPECT_FALSE(ruled.rules.contradiction());
}

TEST(Constraints, ContradictionsAreToldInWords) {
  const auto told = [](const Constraints& constraints) {
    return Ruled(example_map("nine-cities"), constraints).rules.contradiction().value_or("");
  };
  Constraints constraints;
  constraints.together = {{0, 1}};
  constraints.apart = {{1, 0, 5}};
  EXPECT_THAT(told(constraints), HasSubstr("must be together and apart"));
  EXPECT_THAT(told(constraints), HasSubstr("TYO"));
  constraints = {};
  constraints.together = {{0, 1}, {1, 2}};
  constraints.clique_max = 2;
  EXPECT_THAT(told(constraints), HasSubstr("at most 2"));
  constraints = {};
  constraints.period_max = 1;
  constraints.pinned = {completed({}, 9), completed({}, 9)};
  EXPECT_THAT(told(constraints), HasSubstr("2 rounds are pinned"));
  constraints = {};
  constraints.clique_max = 1;
  EXPECT_EQ(told(constraints), "");
  constraints.may_rest = std::vector<IslandId>{};
  EXPECT_THAT(told(constraints), HasSubstr("may not rest"));
  constraints.clique_max = 64;
  constraints.apart = {{0, 1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_THAT(told(constraints), HasSubstr("nobody it could meet"));
}

// Whatever the rules, a repaired round is a partition that obeys them.
TEST(Constraints, RepairedRoundsObey) {
  int repaired = 0, failed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const int n = int(random.between(2, 14));
    const auto anyone = [&] { return IslandId(random.between(0, n - 1)); };
    Constraints constraints;
    if (random.between(0, 1) == 0) constraints.clique_max = int(random.between(2, n));
    if (random.between(0, 1) == 0) constraints.together = {{anyone(), anyone(), anyone()}};
    for (auto& list : constraints.together) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    if (random.between(0, 1) == 0) constraints.apart = {{anyone(), anyone()}, {anyone(), anyone()}};
    if (random.between(0, 1) == 0) constraints.may_rest = std::vector<IslandId>{anyone(), anyone()};
    const Ruled ruled(random_map(n, seed), constraints);
    const Round round = random_schedule(n, 1, seed).rounds[0];
    const auto better = ruled.rules.repaired(round);
    if (ruled.rules.allows(round)) {
      ASSERT_EQ(better, round) << "seed " << seed;
    }
    if (ruled.rules.contradiction()) {
      ASSERT_FALSE(better) << "seed " << seed;
    }
    (better ? repaired : failed) += 1;
    if (!better) continue;
    ASSERT_TRUE(ruled.rules.allows(*better)) << "seed " << seed;
    std::vector<Clique> cliques = better->cliques;
    ASSERT_EQ(completed(std::move(cliques), n), *better) << "seed " << seed;
    int members = 0;
    for (const Clique& clique : better->cliques) members += clique.size();
    ASSERT_EQ(members, n) << "seed " << seed;
  }
  EXPECT_GT(repaired, 5 * failed / 2) << failed << " could not be repaired";
}

}  // namespace
}  // namespace cotillion
