// How an edge speaks to its island: END, heartbeats, what is asked for again, and its place on the
// last hop.
#include "protocol/edge_test.hpp"

namespace cotillion {
namespace {

TEST(Edge, TheEndSaysHowManyThereWereAndHeartbeatsRepeatItUntilItIsAcknowledged) {
  Site site;
  for (ChunkId c = 0; c < kChunks; ++c) site.all(c);
  EXPECT_EQ(site.last().type(), PacketType::kEnd);
  EXPECT_EQ(site.last().header.chunk, kChunks);
  EXPECT_EQ(site.edge.next_deadline(), Instant{1'000'000});  // no chunk is due any more
  site.now = {1'000'000};
  site.edge.on_time(site.now, site);
  EXPECT_EQ(site.last().type(), PacketType::kHeartbeat);
  site.from_island(PacketType::kAck, kChunks);
  site.edge.on_time({2'000'000}, site);
  EXPECT_EQ(site.edge.next_deadline(), kNever);
}

TEST(Edge, WhatTheIslandLacksIsRepeatedWhileItIsKept) {
  Site site;
  site.all(0);
  const Output first = site.last();
  site.from_island(PacketType::kNak, 0);  // 32, 64 … have not been sent
  ASSERT_EQ(site.sent.size(), 2u);
  EXPECT_EQ(site.last().header.flags, flag::kResent);
  EXPECT_TRUE(sealed(1).holds(site.last().bytes));
  site.sent.back().bytes[1] = std::byte(0);
  EXPECT_EQ(site.last().bytes, first.bytes);
  site.from_island(PacketType::kNak, 0);
  EXPECT_EQ(site.count(kResendsSpared), 1u);  // the answer is under way
  site.from_island(PacketType::kAck, 1);
  site.from_island(PacketType::kNak, 0);
  EXPECT_EQ(site.last().type(), PacketType::kGone);
}

// Packets of 64 bytes take 1000 ps on this last hop. Eight of them may be ahead of what is asked
// for again, more after four sums each.
AggregationSpec with_last_hop() {
  AggregationSpec spec = spec_of();
  spec.last_hop = {64 * 8 * 1e9};
  spec.linger = {0};
  return spec;
}

TEST(Edge, WhatIsAskedForAgainWaitsUntilFewAreAheadOfIt) {
  Site site(with_last_hop());
  for (ChunkId c = 0; c < kChunks; ++c) site.all(c);  // the hop is clear at 8000
  site.sent.clear();
  for (std::uint32_t i = 0; i < 3; ++i) site.from_island(PacketType::kNak, i);
  EXPECT_EQ(site.sent.size(), 3u);  // one, and two behind four sums each: clear at 11,000
  for (const std::uint32_t i : {3u, 4u, 3u}) site.from_island(PacketType::kNak, i);
  EXPECT_EQ(site.sent.size(), 3u);
  EXPECT_EQ(site.count(kResendsSpared), 1u);  // which is in line
  EXPECT_EQ(site.edge.next_deadline(), Instant{3000});
  site.edge.on_time({2999}, site);
  EXPECT_EQ(site.sent.size(), 3u);
  site.edge.on_time({3000}, site);
  ASSERT_EQ(site.sent.size(), 4u);
  EXPECT_EQ(site.last().header.sequence, 3u);
  EXPECT_EQ(site.last().header.flags, flag::kResent);
  site.edge.on_time({4000}, site);
  ASSERT_EQ(site.sent.size(), 5u);
  EXPECT_EQ(site.last().header.sequence, 4u);
  EXPECT_EQ(site.count(kResends), 5u);
}

TEST(Edge, SumsWaitForNobodyAndOneInFiveMakesWayForOthers) {
  Site site(with_last_hop());
  for (ChunkId c = 0; c < 4; ++c) site.all(c);
  for (int again = 0; again < 8; ++again)  // five find room, one has its sums before it
    for (std::uint32_t i = 0; i < 4; ++i) site.from_island(PacketType::kNak, i);
  EXPECT_EQ(site.count(kResends), 6u);
  site.sent.clear();
  for (ChunkId c = 4; c < kChunks; ++c) site.all(c);
  ASSERT_EQ(site.sent.size(), 6u);  // with END
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(site.sent[i].header.sequence, 4 + i);
  EXPECT_EQ(site.sent[4].header.flags, flag::kResent);
}

TEST(Edge, LateContributionsWaitForNobodyEither) {
  Site site(with_last_hop());
  site.data(1, 0);
  site.now = {10'000};  // chunk 0 is due
  site.edge.on_time(site.now, site);
  for (ChunkId c = 1; c < kChunks; ++c) site.all(c);  // eight packets are on their way
  for (std::uint32_t i = 1; i < 5; ++i) site.from_island(PacketType::kNak, i);
  ASSERT_EQ(site.count(kResends), 3u);
  site.sent.clear();
  site.data(2, 0);
  ASSERT_EQ(site.sent.size(), 1u);
  EXPECT_EQ(site.last().header.mask, ContributorMask(0b0100));
}

TEST(Edge, NobodyStandsInLineForARoundThatIsOver) {
  Site site(with_last_hop());
  for (ChunkId c = 0; c < kChunks; ++c) site.all(c);
  for (std::uint32_t i = 0; i < 4; ++i) site.from_island(PacketType::kNak, i);
  ASSERT_EQ(site.count(kResends), 3u);
  for (RoundId round = 8; round < 10; ++round) {
    RoundSpec next = round_of(round);
    next.first_deadline = next.last_deadline = {1'000'000};
    ASSERT_TRUE(site.edge.open_round({500}, 1, next, site).has_value());
  }
  site.sent.clear();
  site.edge.on_time({5000}, site);
  EXPECT_TRUE(site.sent.empty());
}

TEST(Edge, AStopSendsWhatStandsInLine) {
  Site site(with_last_hop());
  for (ChunkId c = 0; c < kChunks; ++c) site.all(c);
  for (std::uint32_t i = 0; i < 6; ++i) site.from_island(PacketType::kNak, i);
  ASSERT_EQ(site.count(kResends), 3u);
  site.edge.flush({0}, site);
  EXPECT_EQ(site.count(kResends), 6u);
}

TEST(Edge, FramingCountsOnTheLastHop) {
  AggregationSpec spec = with_last_hop();
  spec.framing = {64};
  Site site(spec);
  for (ChunkId c = 0; c < kChunks; ++c) site.all(c);  // the hop is clear at 16,000
  for (std::uint32_t i = 0; i < 4; ++i) site.from_island(PacketType::kNak, i);
  EXPECT_EQ(site.edge.next_deadline(), Instant{6000});
}

TEST(Edge, AClockThatStepsBackHoldsNothingUp) {
  Site site(with_last_hop());
  site.now = {1'000'000'000};
  for (ChunkId c = 0; c < kChunks; ++c) site.data(1, c);  // all of them are late
  site.now = {5000};
  site.sent.clear();
  site.from_island(PacketType::kNak, 0);
  EXPECT_FALSE(site.sent.empty());
}

}  // namespace
}  // namespace cotillion
