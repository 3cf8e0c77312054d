// What the table says that rounds leave, beside the planner's mixing.
#include "search/partition_table.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "plan/mixing.hpp"
#include "tests/support/plan/maps.hpp"

namespace cotillion {
namespace {

using testing::fixture_of;
using testing::random_map;

PlanSettings by(Objective objective) {
  PlanSettings settings;
  settings.objective = objective;
  return settings;
}

TEST(PartitionTable, OneTwoAndThreeRoundsLeaveWhatMixingSays) {
  const auto fixture = fixture_of(random_map(5, 3));
  const Constraints none;
  const Rules rules(fixture->network, none);
  for (const Objective objective : {Objective::kPaper, Objective::kSquared}) {
    const Score score(fixture->network, by(objective));
    const PartitionTable table(fixture->network, score, rules);
    const auto curve_of = [&](const Partition& x, const Partition& y, const Partition& z) {
      // Everybody meets in the end, so that the curve exists; whoever is born then meets x first.
      const Round everybody = completed({{{0, 1, 2, 3, 4}, {}}}, 5);
      const Mixing mixing = mix({"", {x.round, y.round, z.round, everybody}}, 5);
      return score.squared() ? mixing.phases[3].squared.values : mixing.phases[3].absolute.values;
    };
    Random random(1);
    const auto draw = [&] { return int(random.between(0, table.count() - 1)); };
    for (int trial = 0; trial < 200; ++trial) {
      const Partition &x = table[draw()], &y = table[draw()], &z = table[draw()];
      std::vector<double> e = curve_of(x, y, z);
      e.resize(4, 0);  // it has settled
      EXPECT_NEAR(x.e1, e[1], 1e-12);
      EXPECT_NEAR(table.f(x, y), (x.e1 + y.e1) / 2 + e[2], 1e-12);
      EXPECT_NEAR(table.e3(x, y, z), e[3], 1e-12);
    }
  }
}

TEST(PartitionTable, KnowsWhatRoundsConnect) {
  const auto fixture = fixture_of(random_map(5, 3));
  const Score score(fixture->network, by(Objective::kPaper));
  const PartitionTable table(fixture->network, score, Rules(fixture->network, {}));
  Random random(2);
  const auto draw = [&] { return int(random.between(0, table.count() - 1)); };
  for (int trial = 0; trial < 200; ++trial) {
    const Partition &x = table[draw()], &y = table[draw()], &z = table[draw()];
    const Connected both = Connected(x).joined(y);
    EXPECT_EQ(both.parts() == 1, connects_all({"", {x.round, y.round}}, 5));
    EXPECT_EQ(both.joined(z).parts() == 1, connects_all({"", {x.round, y.round, z.round}}, 5));
    EXPECT_LE(both.joined(z).parts(), both.parts());
    EXPECT_GE(both.joined(z).parts(), both.parts() + z.count - 5);
  }
}

TEST(PartitionTable, HoldsWhatRulesAllowAndWhatIsPinnedShortestFirst) {
  const auto fixture = fixture_of(random_map(5, 3));
  Constraints constraints;
  constraints.clique_max = 2;
  const Score score(fixture->network, by(Objective::kPaper));
  const PartitionTable pairs(fixture->network, score, Rules(fixture->network, constraints));
  EXPECT_EQ(pairs.allowed(), 26);  // matchings of five islands
  constraints.pinned = {completed({{{0, 1, 2}, {}}}, 5)};
  const PartitionTable table(fixture->network, score, Rules(fixture->network, constraints));
  EXPECT_EQ(table.allowed(), 27);
  ASSERT_EQ(table.count(), 27);
  for (int x = 1; x < table.count(); ++x) EXPECT_LE(table[x - 1].length, table[x].length);
}

}  // namespace
}  // namespace cotillion
