#include "base/id.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace cotillion {
namespace {

using RedId = Id<struct RedTag>;
using BlueId = Id<struct BlueTag>;

static_assert(!std::is_convertible_v<int, RedId> && !std::is_convertible_v<RedId, int>);
static_assert(!std::is_constructible_v<RedId, BlueId>);

TEST(Ids, CountInALoopAndCompareAsTheirNumbersDo) {
  int sum = 0;
  for (const RedId id : all_ids<RedId>(4)) sum += id.value();
  EXPECT_EQ(sum, 6);
  EXPECT_LT(RedId(1), RedId(2));
  EXPECT_EQ(++RedId(1), RedId(2));
}

TEST(IdVectors, HaveAValueForEachId) {
  IdVector<RedId, int> squares(3);
  for (const RedId id : squares.ids()) squares[id] = id.value() * id.value();
  EXPECT_EQ(squares, (IdVector<RedId, int>{0, 1, 4}));
  EXPECT_EQ(squares.next_id(), RedId(3));
  EXPECT_TRUE(squares.has(RedId(2)));
  EXPECT_FALSE(squares.has(RedId(3)) || squares.has(RedId(-1)));
}

TEST(IdVectors, HoldBitsToo) {
  IdVector<BlueId, bool> seen(2, false);
  seen[BlueId(1)] = true;
  EXPECT_FALSE(seen[BlueId(0)]);
  EXPECT_TRUE(seen[BlueId(1)]);
}

}  // namespace
}  // namespace cotillion
