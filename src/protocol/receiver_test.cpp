// The island's end of the last hop: what comes, what is missing, and what is asked for.
#include "protocol/receiver_test.hpp"

#include <limits>

namespace cotillion {
namespace {

TEST(Receiver, PlacesSumsByChunkAndAcknowledgesAWholeRoundAtOnce) {
  Island island;
  island.begin();
  for (ChunkId c = 0; c < kChunks; ++c) island.sum(c, kAll, float(c));
  EXPECT_EQ(island.count(kWhole), kChunks);
  EXPECT_EQ(island.average(5), (5.0 + 2) / 4);
  EXPECT_EQ(island.of(PacketType::kAck).at(0).header.chunk, kChunks);
  EXPECT_TRUE(island.ready.empty());  // whole: merged at the end of the round
  island.run(kEnd);
  EXPECT_EQ(island.ready, (std::vector<Ready>{{7, 0, kEnd.ps}}));
  EXPECT_EQ(island.closed.size(), 1u);
  EXPECT_TRUE(island.absent.empty());
}

TEST(Receiver, PartialsMergeByTheRuleOfAnEdge) {
  Island island;
  island.begin();
  island.sum(3, 0b0010, 4);
  island.sum(3, 0b0010, 4);
  island.sum(3, 0b0110, 4);
  EXPECT_EQ(island.count(kDuplicates), 1u);
  EXPECT_EQ(island.count(kOverlaps), 1u);
  EXPECT_EQ(island.average(3), (4.0 + 2) / 2);
  island.sum(3, 0b1100, 6);
  EXPECT_EQ(island.average(3), (4.0 + 6 + 2) / 4);
  EXPECT_EQ(island.receiver.contributors(7)[3], kAll);
  Header zero = sum_of(7, 4, 0b0110, 4);  // zeros are a sum too
  zero.flags = flag::kZero;
  island.deliver(zero);
  island.sum(4, 0b1000, 6);
  EXPECT_EQ(island.average(4), (6.0 + 2) / 4);
}

TEST(Receiver, AGapIsAskedForOnceAndThenAfterWaitsThatDoubleUntilItIsGone) {
  Island island;
  island.begin();
  for (const ChunkId c : {0u, 3u, 4u}) island.sum(c);
  island.run({300});
  RequestWriter gone(1);
  EXPECT_TRUE(gone.add(2));
  const ByteSpan packet = gone.packet(header_of(PacketType::kGone, 7));
  island.edge.close(packet);
  island.receiver.on_packet(island.now, packet, island, island);
  island.run({5'000});
  const auto naks = island.of(PacketType::kNak);
  ASSERT_EQ(naks.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(naks[i].numbers, i < 3 ? (Numbers{1, 2}) : Numbers{1});
    EXPECT_EQ(naks[i].when.ps, (100 << i) - 100);
    EXPECT_EQ(naks[i].header.sequence, i);
  }
  EXPECT_EQ(island.count(kAsked), 7u);
  EXPECT_EQ(island.count(kGone), 1u);
}

TEST(Receiver, OnlyWhatIsSentAgainIsAnAnswer) {
  for (const bool again : {false, true}) {
    Island island;
    island.begin();
    island.now = {10};
    island.sum(1);  // 0 is missing
    island.now = {20};
    island.sum(3);  // 2 is, too
    island.now = {30};
    Header two = sum_of(7, 2, kAll, 2);
    if (again) two.flags |= flag::kResent;
    island.deliver(two);
    // The answer for 0 was overtaken, or 2 was only late.
    EXPECT_EQ(island.of(PacketType::kNak).size(), again ? 3u : 2u);
  }
}

TEST(Receiver, ALostTailIsFoundByEndAndByHeartbeat) {
  for (const PacketType type : {PacketType::kEnd, PacketType::kHeartbeat}) {
    Island island;
    island.begin();
    for (ChunkId c = 0; c < 6; ++c) island.sum(c);
    EXPECT_TRUE(island.of(PacketType::kNak).empty());
    island.announce(type, 7, 0, kChunks);
    island.run({0});
    EXPECT_EQ(island.of(PacketType::kNak).at(0).numbers, (Numbers{6, 7})) << name_of(type);
  }
}

TEST(Receiver, WhatIsMissingAtTheDeadlineIsReportedExactly) {
  Island island;
  island.begin();
  for (const ChunkId c : {0u, 1u, 2u, 3u, 4u, 5u, 7u}) island.sum(c, c == 2 ? 0b0110 : kAll);
  island.run(kEnd);
  EXPECT_EQ(island.closed.at(0).second, kEnd.ps);
  ASSERT_EQ(island.absent.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(island.absent[i].contributor, int(i) + 1);
    EXPECT_EQ(island.absent[i].chunks, i == 2 ? 2u : 1u);
    EXPECT_EQ(island.absent[i].first_chunk, i == 2 ? 2u : 6u);
  }
  EXPECT_EQ(island.receiver.missing_packets(), 0u);
}

TEST(Receiver, AnEdgeThatRestartsCountsFromItsNewBeginning) {
  Island island;
  island.open(7);
  island.sum(0);
  EXPECT_EQ(island.count(kUnknownBoot), 1u);
  island.announce(PacketType::kHeartbeat, 7, 50, 53);  // what was refused is asked for
  island.run({0});
  EXPECT_EQ(island.of(PacketType::kNak).back().numbers, (Numbers{50, 51, 52}));
  island.edge.set_boot(2);
  island.sum(1);
  EXPECT_EQ(island.count(kForged), 1u);
  island.announce(PacketType::kHeartbeat, 7, 0, 2);
  EXPECT_EQ(island.count(kRestarts), 1u);
  island.run({0});
  EXPECT_EQ(island.of(PacketType::kNak).back().numbers, (Numbers{0, 1}));
  island.edge.set_boot(1);  // the old one's voice, played again
  island.announce(PacketType::kHeartbeat, 7, 50, 60);
  EXPECT_EQ(island.count(kForged), 2u);
}

// Or a later acknowledgement would name numbers that the new edge uses for something else.
TEST(Receiver, AnEndFromBeforeARestartIsForgotten) {
  Island island;
  island.begin();
  for (ChunkId c = 1; c < kChunks; ++c) island.sum(c);
  island.announce(PacketType::kEnd, 7, 0, kChunks);
  island.edge.set_boot(2);
  island.announce(PacketType::kHeartbeat, 7, 0, 0);
  island.sum(0);
  EXPECT_EQ(island.of(PacketType::kAck).at(0).header.chunk, 1u);
}

TEST(Receiver, ARoundOfWhichNothingCameDoesNotGiveUpTheNext) {
  for (const bool told : {false, true}) {
    Island island;
    island.open(7, {20'000}, -60'000);
    island.announce(PacketType::kHeartbeat, 7, 0, 0);
    island.open(8);
    if (told) island.announce(PacketType::kHeartbeat, 8, 0, 0);  // or it is lost
    for (const ChunkId c : {0u, 2u}) island.deliver(sum_of(8, c, kAll, c));
    if (told) island.announce(PacketType::kEnd, 7, 0, 3);
    island.run({25'000});
    EXPECT_EQ(island.receiver.missing_packets(), 1u) << told;
    EXPECT_EQ(island.of(PacketType::kAck).at(0).header.chunk, 0u) << told;
  }
}

TEST(Receiver, WhatCameIsNotAskedForAgainEvenIfItIsNoLongerWanted) {
  Island island;
  island.begin();
  Header stale = sum_of(6, 0, kAll, 0);
  island.deliver(stale);
  EXPECT_EQ(island.count(ReceiverCount::kStaleRound), 1u);
  EXPECT_EQ(island.receiver.missing_packets(), 0u);
  island.announce(PacketType::kHeartbeat, 7, 1, 1);
  EXPECT_EQ(island.receiver.missing_packets(), 0u);
}

TEST(Receiver, WhatThePlanDoesNotExpectIsDropped) {
  Island island;
  island.begin();
  const std::vector<void (*)(Header&)> wrongs = {
      [](Header& h) { h.job = 2; },
      [](Header& h) { h.set_meeting(0, 6); },
      [](Header& h) { h.mask = 0b0001; },
      [](Header& h) { h.weight = 4; },
      [](Header& h) { h.chunk = kChunks; },
      [](Header& h) { h.set_content(Element::kI32, Operation::kSum, 0); }};
  for (const auto wrong : wrongs) {
    Header header = sum_of(7, 0, kAll, 0);
    wrong(header);
    island.deliver(header);
  }
  EXPECT_EQ(island.count(kUnexpected), wrongs.size());
  island.sum(0, kAll, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(island.count(kNotFinite), 1u);
}

}  // namespace
}  // namespace cotillion
