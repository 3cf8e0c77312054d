// What an island puts on the wire, byte by byte.
#include "protocol/snapshots.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace cotillion {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Two chunks of one beat, the last of them three elements short.
JobSpec job_of(Element element) {
  return {.id = 1,
          .element = element,
          .operation = Operation::kWeightedSum,
          .elements = 2 * kBeatBytes / bytes_of(element) - 3,
          .beats = 1};
}

struct Island {
  explicit Island(Element element, Grid grid = Grid(0), int live_rounds = 2)
      : snapshots(job_of(element), std::move(grid), live_rounds) {}

  void take(RoundId round, ChunkId chunk, std::vector<float> values, Snapshots::Terms terms = {}) {
    values.resize(elements_in(snapshots.job(), chunk));
    snapshots.take(round, chunk, values, terms);
  }
  std::int32_t word(RoundId round, std::size_t i, ChunkId chunk = 0) {
    Little32 word;
    std::memcpy(&word, snapshots.chunk(round, chunk).data() + 4 * i, 4);
    return std::int32_t(std::uint32_t(word));
  }
  float real(RoundId round, std::size_t i) { return std::bit_cast<float>(word(round, i)); }
  std::uint16_t half(RoundId round, std::size_t i) {
    Little16 half;
    std::memcpy(&half, snapshots.chunk(round, 0).data() + 2 * i, 2);
    return half;
  }

  Snapshots snapshots;
};

TEST(Snapshots, F32GoesOutAsItIsTimesItsWeight) {
  Island island(Element::kF32);
  island.take(1, 0, {1.5f, -2.25f, 0.1f}, {.weight = 3});
  EXPECT_EQ(island.real(1, 0), 4.5f);
  EXPECT_EQ(island.real(1, 1), -6.75f);
  EXPECT_EQ(island.real(1, 2), 0.1f * 3);
  EXPECT_EQ(island.snapshots.flags(1, 0), 0);
}

TEST(Snapshots, Bf16IsRoundedToTheNearestAfterTheWeight) {
  Island island(Element::kBf16);
  // 1 + 2⁻⁸ is halfway between two bf16; three times it is not.
  island.take(1, 0, {1.0f, 1.00390625f, 1.01171875f, -2.5f});
  EXPECT_EQ(island.half(1, 0), 0x3f80);
  EXPECT_EQ(island.half(1, 1), 0x3f80);  // ties to even
  EXPECT_EQ(island.half(1, 2), 0x3f82);
  EXPECT_EQ(island.half(1, 3), 0xc020);
  island.take(2, 0, {1.00390625f}, {.weight = 3});  // 3.01171875: 3.015625 is the nearest
  EXPECT_EQ(island.half(2, 0), 0x4041);
}

TEST(Snapshots, IntegersAreTheNearestOfTheGridTimesTheWeight) {
  Island island(Element::kI32, Grid(-2));
  island.take(1, 0, {1.0f, 0.124f, 0.125f, 0.375f, -0.375f, -7.3f}, {.weight = 5});
  const std::vector<int> units = {4, 0, 0, 2, -2, -29};  // ties to even
  for (std::size_t i = 0; i < units.size(); ++i) EXPECT_EQ(island.word(1, i), units[i] * 5) << i;
  EXPECT_EQ(island.snapshots.flags(1, 0), 0);
}

TEST(Snapshots, EveryRangeOfChunksHasItsOwnGrid) {
  Island island(Element::kI32, Grid({{0, -2}, {1, 1}}));
  island.take(1, 0, {6});
  island.take(1, 1, {6});
  EXPECT_EQ(island.word(1, 0, 0), 24);
  EXPECT_EQ(island.word(1, 0, 1), 3);
}

TEST(Snapshots, WhatIsBeyondTheLimitIsClampedBeforeTheWeightAndFlagged) {
  Island island(Element::kI32);
  island.take(1, 0, {100, 101, -100, -101, kInfinity, -kInfinity}, {.weight = 3, .limit = 100});
  for (const std::size_t i : {0u, 1u, 4u}) EXPECT_EQ(island.word(1, i), 300) << i;
  for (const std::size_t i : {2u, 3u, 5u}) EXPECT_EQ(island.word(1, i), -300) << i;
  EXPECT_EQ(island.snapshots.flags(1, 0), flag::kClamped);
  island.take(1, 0, {100, -100}, {.weight = 3, .limit = 100});
  EXPECT_EQ(island.snapshots.flags(1, 0), 0);
}

TEST(Snapshots, TheWidestLimitIsExact) {
  Island island(Element::kI32);
  island.take(1, 0, {2147483648.0f, -2147483648.0f, 3e38f, 2147483520.0f});
  EXPECT_EQ(island.word(1, 0), INT32_MAX);
  EXPECT_EQ(island.word(1, 1), -INT32_MAX);
  EXPECT_EQ(island.word(1, 2), INT32_MAX);
  EXPECT_EQ(island.word(1, 3), 2147483520);
}

TEST(Snapshots, NoIntegerSaysNotANumberSoItsChunkIsFlaggedNotToBeSent) {
  Island island(Element::kI32);
  island.take(1, 0, {7, kNan, 9});
  EXPECT_EQ(island.snapshots.flags(1, 0), flag::kNanDropped);
  EXPECT_EQ(island.word(1, 0), 7);
  EXPECT_EQ(island.word(1, 1), 0);
  island.take(1, 0, {kNan, kInfinity}, {.limit = 100});
  EXPECT_EQ(island.snapshots.flags(1, 0), flag::kNanDropped | flag::kClamped);
  island.take(1, 0, {7, 8, 9});
  EXPECT_EQ(island.snapshots.flags(1, 0), 0);
}

TEST(Snapshots, FloatsThatAreNotFiniteGoOutForTheEdgesToDrop) {
  Island island(Element::kF32);
  island.take(1, 0, {kNan, kInfinity});
  EXPECT_TRUE(std::isnan(island.real(1, 0)));
  EXPECT_TRUE(std::isinf(island.real(1, 1)));
}

TEST(Snapshots, AChunkOfZerosIsFlagged) {
  for (const Element element : {Element::kF32, Element::kBf16, Element::kI32}) {
    Island island(element);
    island.take(1, 0, {});
    EXPECT_EQ(island.snapshots.flags(1, 0), flag::kZero) << name_of(element);
    island.take(1, 0, {0, 0, 1});
    EXPECT_EQ(island.snapshots.flags(1, 0), 0) << name_of(element);
  }
}

TEST(Snapshots, NegativeZeroIsAValueExceptOnTheGrid) {
  for (const Element element : {Element::kF32, Element::kBf16}) {
    Island island(element);
    island.take(1, 0, {0, -0.0f});
    EXPECT_EQ(island.snapshots.flags(1, 0), 0) << name_of(element);
  }
  Island island(Element::kI32);
  island.take(1, 0, {-0.0f, 0.4f});
  EXPECT_EQ(island.snapshots.flags(1, 0), flag::kZero);
}

TEST(Snapshots, TheShortLastChunkIsFilledUpWithZeros) {
  for (const Element element : {Element::kF32, Element::kBf16, Element::kI32}) {
    Island island(element);
    const std::size_t each = bytes_of(element);
    for (const RoundId round : {1u, 3u}) {  // again in the same place
      island.take(round, 1, std::vector<float>(elements_in(island.snapshots.job(), 1), 5));
      const ByteView wire = island.snapshots.chunk(round, 1);
      ASSERT_EQ(wire.size(), kBeatBytes);
      for (std::size_t i = wire.size() - 3 * each; i < wire.size(); ++i)
        EXPECT_EQ(wire[i], std::byte(0)) << name_of(element);
    }
  }
}

TEST(Snapshots, ACopyIsKeptUntilALaterRoundNeedsItsPlace) {
  Island island(Element::kF32, Grid(0), 2);
  island.take(5, 0, {5});
  island.take(6, 0, {6});
  EXPECT_EQ(island.real(5, 0), 5);
  EXPECT_EQ(island.real(6, 0), 6);
  island.take(7, 0, {7});
  EXPECT_FALSE(island.snapshots.taken(5, 0));
  EXPECT_EQ(island.real(6, 0), 6);
  EXPECT_EQ(island.real(7, 0), 7);
}

TEST(Snapshots, WhatWasNeverTakenIsNotThere) {
  Island island(Element::kF32);
  EXPECT_FALSE(island.snapshots.taken(0, 0));
  island.take(0, 1, {1});
  EXPECT_FALSE(island.snapshots.taken(0, 0));
  EXPECT_TRUE(island.snapshots.taken(0, 1));
  EXPECT_FALSE(island.snapshots.taken(2, 1));
}

TEST(SnapshotsDeathTest, ARehearsalTakesEverythingForZerosAndStoresNothing) {
  Snapshots counted(job_of(Element::kF32), Grid(0), 2, Payloads::kCounted);
  counted.take(1, 0, {}, {});
  EXPECT_TRUE(counted.taken(1, 0));
  EXPECT_EQ(counted.flags(1, 0), flag::kZero);
  EXPECT_FALSE(counted.taken(1, 1));
  EXPECT_DEATH((void)counted.chunk(1, 0), "internal error");
}

TEST(SnapshotsDeathTest, AChunkIsTakenWhole) {
  Island island(Element::kF32);
  const std::vector<float> few(3);
  EXPECT_DEATH(island.snapshots.take(1, 0, few, {}), "internal error");
}

// A source that keeps what it was asked for.
struct Keeper final : FragmentSource {
  void snapshot(RoundId round, std::uint64_t first, std::span<float> values) override {
    ++asked;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = float(round) + 0.3f * float(first + i) - 1.5f;
  }
  bool keep(RoundId, int) override { return true; }
  int asked = 0;
};

TEST(Snapshots, WhatTheSourceKeepsIsReadAsIfItWereStored) {
  for (const Element element : {Element::kF32, Element::kBf16, Element::kI32}) {
    Keeper keeper;
    const JobSpec job = job_of(element);
    Snapshots kept(job, Grid(-3), 2, Payloads::kReal, &keeper);
    Snapshots stored(job, Grid(-3), 2);
    for (const RoundId round : {1u, 2u, 3u}) {
      kept.take_kept(round, 0, chunk_count(job), {3, 1 << 20});
      for (ChunkId chunk = 0; chunk < chunk_count(job); ++chunk) {
        std::vector<float> values(elements_in(job, chunk));
        keeper.snapshot(round, first_element(job, chunk), values);
        stored.take(round, chunk, values, {3, 1 << 20});
      }
    }
    for (const RoundId round : {2u, 3u, 2u})
      for (ChunkId chunk = 0; chunk < chunk_count(job); ++chunk) {
        const ByteView wire = stored.chunk(round, chunk), again = kept.chunk(round, chunk);
        ASSERT_TRUE(std::equal(wire.begin(), wire.end(), again.begin(), again.end()));
        EXPECT_EQ(kept.flags(round, chunk), stored.flags(round, chunk));
        std::vector<float> values(elements_in(job, chunk));
        keeper.snapshot(round, first_element(job, chunk), values);
        const std::span<const float> exact = kept.exact(round, chunk);
        EXPECT_TRUE(std::equal(exact.begin(), exact.end(), values.begin(), values.end()));
        EXPECT_TRUE(stored.exact(round, chunk).empty());
      }
    EXPECT_FALSE(kept.taken(1, 0));
  }
}

TEST(Snapshots, WhatIsReadTwiceInARowIsAskedForOnce) {
  Keeper keeper;
  Snapshots kept(job_of(Element::kF32), Grid(0), 2, Payloads::kReal, &keeper);
  kept.take_kept(1, 0, 2, {});
  EXPECT_EQ(keeper.asked, 0);
  EXPECT_EQ(kept.flags(1, 0), 0);
  (void)kept.chunk(1, 0);
  EXPECT_EQ(keeper.asked, 1);
  kept.forget(1, 0, 1);
  EXPECT_FALSE(kept.taken(1, 0));
  EXPECT_TRUE(kept.taken(1, 1));
  kept.forget(3, 1, 2);  // another round's
  EXPECT_TRUE(kept.taken(1, 1));
}

}  // namespace
}  // namespace cotillion
