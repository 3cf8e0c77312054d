#include "base/id.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace cotillion {
namespace {

struct BlueTag {};
struct SkyTag {
  using IsAlso = BlueTag;  // what is sky is blue
};
using RedId = Id<struct RedTag>;
using BlueId = Id<BlueTag>;
using SkyId = Id<SkyTag>;

template <class A, class B>
concept Comparable = requires(A a, B b) {
  a == b;
  a < b;
};
template <class Vector, class Index>
concept IndexedBy = requires(Vector vector, Index index) {
  vector[index];
};

// A number becomes an id when the code says so or writes it out; an id is a number by itself.
static_assert(std::is_constructible_v<RedId, int> && RedId(7) == 7);
constexpr RedId kNone = -1;
static_assert(kNone < 0 && std::is_convertible_v<RedId, int> &&
              std::is_convertible_v<RedId, double>);
// No id becomes another, nor compares with it,
static_assert(!std::is_constructible_v<RedId, BlueId> && !std::is_assignable_v<RedId&, BlueId>);
static_assert(Comparable<RedId, RedId> && Comparable<RedId, int> && !Comparable<RedId, BlueId>);
// but for those that are a special case of it.
static_assert(std::is_convertible_v<SkyId, BlueId> && Comparable<SkyId, BlueId>);
static_assert(!std::is_constructible_v<SkyId, BlueId> && !Comparable<SkyId, RedId>);
static_assert(IndexedBy<IdVector<BlueId, int>, BlueId> && IndexedBy<IdVector<BlueId, int>, SkyId>);
static_assert(!IndexedBy<IdVector<BlueId, int>, RedId>);
static_assert(!IndexedBy<IdVector<SkyId, int>, BlueId>);

TEST(Ids, CountInALoopAndCompareAsTheirNumbersDo) {
  int sum = 0;
  for (const RedId id : all_ids<RedId>(4)) sum += id;
  EXPECT_EQ(sum, 6);
  EXPECT_LT(RedId(1), RedId(2));
  EXPECT_EQ(++RedId(1), RedId(2));
}

TEST(IdVectors, HaveAValueForEachId) {
  IdVector<RedId, int> squares(3);
  for (const RedId id : squares.ids()) squares[id] = id * id;
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
