#include "protocol/edge_spec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace cotillion {
namespace {

constexpr Bytes kCard{32'000'000'000};

TEST(EdgeSpec, WithSlotsAsWideAsChunksTheWindowIsTheMemoryToTheByte) {
  EXPECT_EQ(reorder_window({kCard, {8192}, {8192}, {}}), kCard);
  EXPECT_EQ(reorder_window({{12'345'679}, {1000}, {1000}, {}}), Bytes{12'345'679});
}

TEST(EdgeSpec, Bf16SummedIn32BitSlotsHalvesTheWindow) {
  EXPECT_EQ(reorder_window({kCard, {8192}, {16384}, {}}), Bytes{16'000'000'000});
}

TEST(EdgeSpec, ASlotWithAHeaderOfItsOwnCostsItsShare) {
  EXPECT_EQ(reorder_window({{90}, {8}, {9}, {}}), Bytes{80});
}

TEST(EdgeSpec, AFractionOfAByteIsNoWindow) {
  EXPECT_EQ(reorder_window({{1}, {1}, {2}, {}}), Bytes{0});
}

TEST(EdgeSpec, AnEdgeWithoutMemoryHasNoWindow) {
  EXPECT_EQ(reorder_window({{0}, {8192}, {8192}, {}}), Bytes{0});
}

TEST(EdgeSpec, LargeMemoriesDoNotOverflow) {
  const Bytes largest{std::int64_t{1} << 53};
  EXPECT_EQ(reorder_window({largest, {1 << 24}, {1 << 24}, {}}), largest);
}

TEST(EdgeSpec, EveryChunkOnTheWireCarriesItsFraming) {
  EXPECT_EQ(wire_bytes({{}, {1500}, {1500}, {66}}, Bytes{15'000}), Bytes{15'660});
}

TEST(EdgeSpec, TheLastChunkIsAsShortAsThePayloadLeavesItButFramedAsAWhole) {
  EXPECT_EQ(wire_bytes({{}, {1500}, {1500}, {66}}, Bytes{15'001}), Bytes{15'001 + 11 * 66});
  EXPECT_EQ(wire_bytes({{}, {1500}, {1500}, {66}}, Bytes{1}), Bytes{67});
}

TEST(EdgeSpec, WithoutFramingTheWireCarriesThePayload) {
  EXPECT_EQ(wire_bytes({}, Bytes{1'000'000'001}), Bytes{1'000'000'001});
}

TEST(EdgeSpec, NothingToSendNeedsNoPacket) {
  EXPECT_EQ(wire_bytes({{}, {1500}, {1500}, {66}}, Bytes{0}), Bytes{0});
}

TEST(EdgeSpec, APlanWithoutMemoryRunsOnTwoPacketsOfEachStream) {
  EXPECT_EQ(slot_count({{0}, {1408}, {1408}, {}}, 8, {1e10}, {0}), 16u);
  EXPECT_EQ(slot_count({{0}, {1408}, {1408}, {}}, 0, {1e10}, {0}), 0u);
}

TEST(EdgeSpec, SlotsHoldWhatThePlanCountsOnAndWhatPassesDuringSlack) {
  // ⌈10,000 / 2816⌉ slots of memory; 1 ms at 1 Gb/s is 125,000 bytes, ⌈/ 1408⌉ chunks.
  EXPECT_EQ(slot_count({{10'000}, {1408}, {2816}, {}}, 3, {1e9}, {1'000'000'000}), 4u + 89 + 6);
  EXPECT_EQ(slot_count({{2816}, {1250}, {2816}, {}}, 1, {1e9}, {1'000'000'000}), 1u + 100 + 2);
}

TEST(EdgeSpec, TheWholeCardIsCountedInSlots) {
  EXPECT_EQ(slot_count({kCard, {8192}, {8192}, {}}, 0, {1e11}, {0}), 3'906'250u);
}

TEST(EdgeSpec, TheResendStoreIsMemoryOfItsOwn) {
  EXPECT_EQ(EdgeSpec{}.resend, Bytes{64 << 20});
  EdgeSpec more{.memory = kCard};
  more.resend = {1 << 30};
  EXPECT_NE(more, EdgeSpec{.memory = kCard});
  EXPECT_EQ(reorder_window(more), reorder_window({.memory = kCard}));  // outside M
  EXPECT_EQ(slot_count(more, 4, {1e9}, {0}), slot_count({.memory = kCard}, 4, {1e9}, {0}));
}

RC_GTEST_PROP(EdgeSpec, MoreOfAnythingNeverNeedsFewerSlots, ()) {
  const auto memory = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
  const auto chunk = *rc::gen::inRange<std::int64_t>(1, 1 << 16);
  const auto streams = *rc::gen::inRange(0, 64);
  const auto slack = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000);
  const EdgeSpec edge{{memory}, {chunk}, {chunk}, {}};
  const std::size_t slots = slot_count(edge, streams, {1e9}, {slack});
  RC_ASSERT(std::int64_t(slots) * chunk >= memory);
  RC_ASSERT(slots >= 2 * std::size_t(streams));
  RC_ASSERT(slot_count({{memory + chunk}, {chunk}, {chunk}, {}}, streams, {1e9}, {slack}) > slots);
  RC_ASSERT(slot_count(edge, streams + 1, {1e9}, {slack}) == slots + 2);
  RC_ASSERT(slot_count(edge, streams, {2e9}, {slack}) >= slots);
}

RC_GTEST_PROP(EdgeSpec, WiderSlotsNeverHoldMore, ()) {
  const auto memory = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
  const auto chunk = *rc::gen::inRange<std::int64_t>(1, 1 << 16);
  const auto slot = *rc::gen::inRange<std::int64_t>(chunk, 2 * chunk + 1);
  const Bytes window = reorder_window({{memory}, {chunk}, {slot}, {}});
  RC_ASSERT(window <= Bytes{memory});
  RC_ASSERT(reorder_window({{memory}, {chunk}, {slot + 1}, {}}) <= window);
}

TEST(EdgeSpecDeathTest, ASlotNarrowerThanItsChunkEndsTheProgram) {
  EXPECT_DEATH((void)reorder_window({kCard, {8192}, {4096}, {}}), "internal error");
}

}  // namespace
}  // namespace cotillion
