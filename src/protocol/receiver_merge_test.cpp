// When the receiver hands on what came, what it merges, and what comes too late for that.
#include "protocol/receiver_test.hpp"

namespace cotillion {
namespace {

TEST(Receiver, WhatComesAfterTheMergeWaitsForALateCorrectionWhileThereIsRoom) {
  Island island(Exchange::kWhole, 2);
  island.begin();
  for (ChunkId c = 0; c < kChunks; ++c) island.sum(c, 0b0110, 4);
  island.run(kEnd);
  EXPECT_EQ(island.x[0], (4.0f + 2) / 3 - 2);
  for (const ChunkId c : {0u, 1u, 2u, 0u}) island.deliver(sum_of(7, c, 0b1000, 8 + c), 10);
  EXPECT_EQ(island.count(kLate), 2u);
  EXPECT_EQ(island.count(kTooLate), 1u);
  EXPECT_EQ(island.count(kDuplicates), 1u);
  for (int i = 0; i < 2; ++i) island.receiver.merge_late(7, 0, island.x);  // once and for all
  EXPECT_FLOAT_EQ(island.x[0], (4.0f + 10 + 2) / 4 - 2);
  EXPECT_FLOAT_EQ(island.x[16 * 2], (4.0f + 2) / 3 - 2);
}

TEST(Receiver, StreamedFragmentsAreReadyOneByOneAndNeverBeforeTheirOwnCopy) {
  Island island(Exchange::kStreamed);
  island.merges = false;
  island.open(7, {0});
  island.announce(PacketType::kHeartbeat, 7, 0, 0);
  for (const ChunkId c : {0u, 1u, 3u}) island.sum(c);
  island.copy(0, 1);
  island.receiver.on_time(island.now, island, island);
  EXPECT_TRUE(island.ready.empty());  // its second chunk has not left
  island.copy(1, kChunks);
  island.receiver.on_time(island.now, island, island);
  island.run({45'000});  // chunk 3 was due at 40,000
  for (const ChunkId c : {6u, 7u}) island.sum(c);
  island.run({90'000});
  EXPECT_EQ(island.ready,
            (std::vector<Ready>{{7, 0, 0}, {7, 1, 45'000}, {7, 3, 45'000}, {7, 2, 65'000}}));
  EXPECT_EQ(island.closed.at(0).second, 85'000);
}

TEST(Receiver, WhatComesAfterTheNextCopyOfTheSameFragmentIsCounted) {
  Island island(Exchange::kStreamed);
  island.open(7, {0});
  island.copy(0, kChunks);
  island.announce(PacketType::kHeartbeat, 7, 0, 0);
  for (const ChunkId c : {0u, 1u, 2u}) island.sum(c);
  island.sum(3, 0b0110);
  island.run({46'000});  // chunk 3 was given up at 45,000
  island.copy(0, 6, 8);  // fragments 0 to 2 of the next round
  island.deliver(sum_of(7, 3, 0b1000, 8), 10);
  for (const ChunkId c : {4u, 5u, 6u, 7u}) island.sum(c);
  EXPECT_EQ(island.count(kLate), 1u);
  EXPECT_EQ(island.count(kOvertaken), 2u);  // what was late of fragment 1, and fragment 2
}

TEST(Receiver, SumsTakeMemoryFromTheirArrivalUntilTheyAreMerged) {
  Island island(Exchange::kStreamed);
  const std::size_t fragment = 2 * slot_bytes(island.job);  // of two chunks
  island.merges = false;
  island.open(7, {0});
  island.copy(0, kChunks);
  island.announce(PacketType::kHeartbeat, 7, 0, 0);
  for (ChunkId c = 0; c < kChunks; ++c) {
    island.sum(c);
    if (c % 2 == 1) {
      EXPECT_TRUE(island.receiver.merge(7, int(c / 2), std::span(island.x).first(32)));
    }
  }
  EXPECT_EQ(island.receiver.most_bytes(), fragment);
}

TEST(Receiver, AMergeInPiecesLeavesWhatComesMeanwhileForLater) {
  Island island;
  island.merges = false;
  island.begin();
  for (ChunkId c = 0; c < kChunks; ++c) island.sum(c, 0b0110, 8);
  island.run(kEnd);
  ASSERT_TRUE(island.receiver.begin_merge(7, 0));
  EXPECT_FALSE(island.receiver.begin_merge(7, 0));
  const auto piece = [&](ChunkId c) {
    island.receiver.merge_chunk(7, c, std::span(island.x).subspan(16 * c, 16));
  };
  for (ChunkId c = 0; c < 4; ++c) piece(c);
  for (const ChunkId c : {1u, 6u}) island.deliver(sum_of(7, c, 0b1000, kChunks + c), 6);
  for (ChunkId c = 4; c < kChunks; ++c) piece(c);
  island.receiver.end_merge(7, 0);
  EXPECT_FLOAT_EQ(island.x[16 * 6], (8.0f + 2) / 3 - 2);
  std::vector<ChunkId> late;
  std::vector<float> room(16);
  while (const auto chunk = island.receiver.take_late(7, 0, room)) {
    late.push_back(*chunk);
    EXPECT_FLOAT_EQ(island.x[16 * *chunk] + room[0], (8.0f + 6 + 2) / 4 - 2);
    std::fill(room.begin(), room.end(), 0.0f);
  }
  EXPECT_EQ(late, (std::vector<ChunkId>{1, 6}));
}

TEST(Receiver, APlaceThatIsTakenAgainClosesItsRoundFirst) {
  for (const bool copied : {true, false}) {  // without a copy nothing can ever be merged
    Island island;
    island.merges = false;
    island.open(7);
    if (copied) island.copy(0, kChunks);
    island.open(8);
    island.open(9);
    EXPECT_EQ(island.closed.at(0).first, 7u);
    EXPECT_EQ(island.absent.at(0).chunks, kChunks);
    EXPECT_EQ(island.ready.size(), copied ? 1u : 0u);
    EXPECT_EQ(island.count(kUnmerged), 1u) << copied;
    island.announce(PacketType::kHeartbeat, 9, 0, 0);
    island.sum(1);
    EXPECT_EQ(island.count(kStaleRound), 1u);
  }
}

TEST(Receiver, TwoFiniteSumsThatAddUpToInfinityReachNoModel) {
  Island island;
  island.begin();
  island.sum(0, 0b0010, 3e38f);
  island.deliver(sum_of(7, 0, 0b1100, 1), 3e38f);
  EXPECT_EQ(island.count(ReceiverCount::kNotFinite), 1u);
  EXPECT_EQ(island.receiver.contributors(7)[0], 0b0010u);
}

TEST(Receiver, AMergeThatComesTooLateIsRefusedAndHarmsNobody) {
  Island island;
  island.merges = false;
  island.begin();
  island.open(8);
  island.open(9);
  std::vector<float> x(island.x.size(), 1.0f);
  EXPECT_FALSE(island.receiver.merge(7, 0, x));
  EXPECT_EQ(x[0], 1.0f);
}

}  // namespace
}  // namespace cotillion
