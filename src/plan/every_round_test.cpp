// Proofs and brute-force tests share this list, so that it is proven itself: as many rounds as
// there are partitions, all of them rounds, and no two alike.
#include "plan/every_round.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cotillion {
namespace {

std::vector<std::vector<IslandId>> members_of(const Round& round) {
  std::vector<std::vector<IslandId>> members;
  for (const Clique& clique : round.cliques) members.push_back(clique.islands);
  return members;
}

TEST(EveryRound, ThereAreAsManyAsPartitions) {
  const std::size_t bell[] = {1, 2, 5, 15, 52, 203, 877, 4140, 21'147};
  for (int n = 1; n <= kSmallIslandsMax; ++n) EXPECT_EQ(every_round(n).size(), bell[n - 1]);
}

TEST(EveryRound, EachHoldsEveryIslandOnceAndNoTwoAreAlike) {
  for (int n = 1; n <= kSmallIslandsMax; ++n) {
    const std::vector<Round> rounds = every_round(n);
    std::set<std::vector<std::vector<IslandId>>> seen;
    for (const Round& round : rounds) {
      ASSERT_EQ(completed(round.cliques, n), round);  // aborts where an island is named twice
      seen.insert(members_of(round));
    }
    EXPECT_EQ(seen.size(), rounds.size());
  }
}

TEST(EveryRoundDeathTest, AMapThatIsNotSmallEndsTheProgram) {
  EXPECT_DEATH((void)every_round(kSmallIslandsMax + 1), "internal error");
}

}  // namespace
}  // namespace cotillion
