// The merge rule and the job table, one sentence each. What must hold whatever the network does is
// in edge_property_test.cpp.
#include "protocol/edge_test.hpp"

#include <limits>

namespace cotillion {
namespace {

TEST(Edge, TheJobTableRefusesWhatItCannotServe) {
  const auto refusal = [](const std::vector<AggregationSpec>& specs, Bytes memory, Bytes margin) {
    const auto built = build(specs, memory, margin);
    return built ? "accepted" : built.error().message;
  };
  EXPECT_EQ(refusal({spec_of(1), spec_of(2)}, {1024}, {}), "accepted");  // 8 slots of 64 bytes each
  EXPECT_THAT(refusal({spec_of(1), spec_of(2)}, {1023}, {}), HasSubstr("job 2: its 8 slots"));
  EXPECT_EQ(refusal({spec_of(1), spec_of(2)}, {1000}, {24}), "accepted");
  EXPECT_THAT(refusal({spec_of(1), spec_of(1)}, {4096}, {}), HasSubstr("in the job table twice"));
  EXPECT_THAT(refusal({spec_of(0)}, {4096}, {}), HasSubstr("reserved"));
  EXPECT_THAT(refusal({spec_of(1, 0)}, {4096}, {}), HasSubstr("no slots"));
}

TEST(Edge, ARoundThatCannotRunIsRefused) {
  Site site;
  const auto refusal = [&](JobId job, const RoundSpec& round) {
    const auto opened = site.edge.open_round({0}, job, round, site);
    return opened ? "accepted" : opened.error().message;
  };
  EXPECT_THAT(refusal(9, round_of(8)), HasSubstr("job 9 is not in the job table"));
  EXPECT_THAT(refusal(1, round_of(7)), HasSubstr("never opened twice"));
  EXPECT_THAT(refusal(1, equal_round(8, 5, 0)), HasSubstr("stream 4, which nobody described"));
  EXPECT_EQ(refusal(1, round_of(8)), "accepted");
}

TEST(Edge, AWholeSumLeavesAtOnceAsAResult) {
  Site site;
  site.data(1, 3, 1.5f);
  site.data(3, 3, 2, flag::kClamped);
  site.data(3, 3, 2);
  EXPECT_TRUE(site.sent.empty());
  EXPECT_EQ(site.count(kDuplicates), 1u);
  site.data(2, 3, 4, flag::kCongested);
  EXPECT_EQ(site.last().header.mask, kAll);
  EXPECT_EQ(site.last().header.weight, 3u);
  EXPECT_EQ(site.last().type(), PacketType::kResult);
  EXPECT_EQ(site.last().header.flags, flag::kClamped | flag::kCongested);  // inherited
  EXPECT_EQ(site.last().value(), 7.5f);
  EXPECT_TRUE(sealed(1).holds(site.last().bytes));
  EXPECT_EQ(site.count(kResults), 1u);
}

// Chunk c has its turn at 5,000 + 10,000·c.
RoundSpec held_round() {
  RoundSpec round = round_of();
  round.held_until = {5'000};
  return round;
}

TEST(Edge, AWholeSumWaitsForItsTurn) {
  Site site(spec_of(), held_round());
  site.all(1);
  site.all(0);
  EXPECT_TRUE(site.sent.empty());
  EXPECT_EQ(site.edge.job(1)->open_slots(), 2u);
  EXPECT_EQ(site.edge.next_deadline(), Instant{5'000});
  site.data(2, 1);
  EXPECT_EQ(site.count(kDuplicates), 1u);
  for (const std::int64_t at : {5'000, 15'000}) {
    site.edge.on_time({at - 1}, site);
    EXPECT_EQ(site.sent.size(), std::size_t(at / 10'000));
    site.edge.on_time({at}, site);
    ASSERT_EQ(site.sent.size(), std::size_t(at / 10'000 + 1));
    EXPECT_EQ(site.last().header.chunk, at / 10'000);
    EXPECT_EQ(site.last().type(), PacketType::kResult);
  }
  site.now = {16'000};
  site.all(1);
  EXPECT_EQ(site.count(kResults), 2u);
  EXPECT_EQ(site.count(kTimeouts), 0u);
  EXPECT_EQ(site.edge.job(1)->open_slots(), 0u);
}

TEST(Edge, ARoundEndsWithTheTurnOfItsLastSum) {
  Site site(spec_of(), held_round());
  for (ChunkId chunk = 0; chunk < kChunks; ++chunk) site.all(chunk);
  EXPECT_TRUE(site.sent.empty());
  site.edge.on_time({75'000}, site);
  ASSERT_EQ(site.sent.size(), kChunks + 1);
  EXPECT_EQ(site.last().type(), PacketType::kEnd);
  site.edge.on_time({900'000}, site);
  EXPECT_EQ(site.count(kResults), kChunks);
  EXPECT_EQ(site.count(kTimeouts), 0u);
}

TEST(Edge, ASumThatBecomesWholeAfterItsTurnLeavesAtOnce) {
  Site site(spec_of(), held_round());
  site.data(1, 0);
  site.edge.on_time({5'000}, site);
  EXPECT_TRUE(site.sent.empty());
  site.now = {6'000};
  site.data(2, 0);
  site.data(3, 0);
  EXPECT_EQ(site.last().type(), PacketType::kResult);
}

TEST(Edge, ASumThatIsNotWholeIsPutOutAtItsDeadlineWhateverItsTurn) {
  RoundSpec round = round_of();
  round.held_until = round.first_deadline;
  Site site(spec_of(), round);
  site.data(1, 0);
  site.all(1);
  site.edge.on_time({20'000}, site);
  ASSERT_EQ(site.sent.size(), 2u);
  // Whole sums first: theirs is the planned turn.
  EXPECT_EQ(site.sent[0].type(), PacketType::kResult);
  EXPECT_EQ(site.sent[1].type(), PacketType::kPartial);
  EXPECT_EQ(site.count(kTimeouts), 1u);
}

TEST(Edge, TheLastContributionOfTwoWaitsInASlotToo) {
  RoundSpec round = equal_round(7, 2, 0);
  round.first_deadline = {10'000};
  round.last_deadline = {80'000};
  round.held_until = {5'000};
  Site site(spec_of(), round);
  site.data(1, 0);
  EXPECT_TRUE(site.sent.empty());
  site.edge.on_time({5'000}, site);
  EXPECT_EQ(site.last().type(), PacketType::kResult);
  site.edge.flush({6'000}, site);
  EXPECT_EQ(site.sent.size(), 2u);  // and END
}

TEST(Edge, AWholeSumThatANewerChunkPutsOutBeforeItsTurnIsAResult) {
  Site site(spec_of(1, 2), held_round());
  site.all(2);
  EXPECT_TRUE(site.sent.empty());
  EXPECT_EQ(site.count(kResults), 0u);  // not before it has gone out
  site.data(1, 4);                      // the same slot
  EXPECT_EQ(site.last().header.chunk, 2u);
  EXPECT_EQ(site.last().type(), PacketType::kResult);
  EXPECT_EQ(site.count(kResults), 1u);
  EXPECT_EQ(site.count(kConflicts), 0u);
  EXPECT_EQ(site.count(kOutputs), 1u);
}

TEST(Edge, WhatIsThereAtTheDeadlineLeavesAndTheRestPassesLate) {
  Site site;
  site.data(1, 1);
  site.edge.on_time({19'999}, site);
  EXPECT_TRUE(site.sent.empty());
  EXPECT_EQ(site.edge.next_deadline(), Instant{20'000});
  site.now = {20'000};
  site.edge.on_time(site.now, site);
  EXPECT_EQ(site.last().header.mask, 0b0010u);
  EXPECT_EQ(site.count(kTimeouts), 1u);
  site.data(2, 1);
  EXPECT_EQ(site.last().header.mask, 0b0100u);
  EXPECT_EQ(site.last().header.flags, flag::kLate);
  site.data(1, 1);
  EXPECT_EQ(site.count(kDuplicates), 1u);  // the ledger remembers
}

TEST(Edge, ANewerChunkPutsAnOlderOneOutAndAnOlderOnePassesANewer) {
  Site site(spec_of(1, 2));
  site.data(1, 2);
  site.data(1, 4);  // the same slot
  EXPECT_EQ(site.last().header.chunk, 2u);
  site.data(2, 2);
  EXPECT_EQ(site.last().header.flags, flag::kLate);
  site.data(2, 4);
  site.data(3, 4);  // whole: the slot is free again
  EXPECT_EQ(site.last().type(), PacketType::kResult);
  site.data(1, 0);
  site.data(3, 2);  // the last part of chunk 2 needs no slot, so chunk 0 keeps it
  EXPECT_EQ(site.last().type(), PacketType::kPartial);
  EXPECT_EQ(site.count(kCompletedPartials), 1u);
  EXPECT_EQ(site.count(kConflicts), 1u);
  EXPECT_EQ(site.count(kOutputs), 4u);
}

TEST(Edge, AJobHasItsRateAndItsBurst) {
  AggregationSpec spec = spec_of();
  spec.rate_max = {8.32e8};  // a packet of 104 bytes in 1,000,000 ps
  spec.burst = {208};
  Site site(spec);
  site.now = {1'000'000'000};
  for (ChunkId c = 0; c < 4; ++c) site.data(1, c);  // a long silence saves up one burst, no more
  EXPECT_EQ(site.count(kOverRate), 2u);
  for (const std::int64_t wait : {999'000, 1'000}) {
    site.now = site.now + Duration{wait};
    site.data(1, 4);
  }
  EXPECT_EQ(site.count(kOverRate), 3u);
  EXPECT_EQ(site.count(kAccepted), 3u);
}

TEST(Edge, JobsDoNotTouchOneAnother) {
  Site site({spec_of(1, 2), spec_of(2, 2)}, round_of());
  site.data(1, 0, 5, 0, 2);
  for (ChunkId c = 0; c < kChunks; ++c) site.data(1, c);  // crowds its own slots
  EXPECT_EQ(site.count(kConflicts, 1), 6u);
  EXPECT_EQ(site.count(kConflicts, 2), 0u);
  site.data(2, 0, 5, 0, 2);
  site.data(3, 0, 5, 0, 2);
  EXPECT_EQ(site.last().header.job, 2);
  EXPECT_EQ(site.last().value(), 15);
  EXPECT_EQ(site.last().header.sequence, 0u);  // its own hop
  site.data(1, 0, 5, 0, 3);
  EXPECT_EQ(site.edge.foreign(), 1u);
}

// Members 1 and 2 come through an edge of their own, which this one hears as stream 1.
TEST(Edge, EdgesStandInARow) {
  RoundSpec behind = round_of();
  behind.own = -1;
  behind.expected = 0b0110;
  RoundSpec front = round_of();
  front.source[2] = 1;
  Site inner(spec_of(), behind);
  Site outer(spec_of(), front);
  for (ChunkId c = 0; c < kChunks; ++c) {
    inner.data(1, c, 1);
    inner.data(2, c, 2);
    outer.data(3, c, 4);
  }
  for (Output& output : inner.sent) {
    sealed(11).close(output.bytes);
    outer.edge.on_packet({0}, 1, output.bytes, outer);
  }
  ASSERT_EQ(outer.sent.size(), kChunks + 1);
  EXPECT_EQ(outer.sent[5].type(), PacketType::kResult);
  EXPECT_EQ(outer.sent[5].header.mask, kAll);
  EXPECT_EQ(outer.sent[5].value(), 7);
  EXPECT_EQ(outer.count(kUnexpected), 0u);  // the inner edge's END included
}

TEST(Edge, CoefficientsMultiplyDataAndNeverSums) {
  RoundSpec round = round_of();
  round.coefficient[1] = 5;
  round.source[2] = 1;
  Site site(spec_of(), round);
  Header sum = site.header_of(PacketType::kPartial, 0, 0b0110);
  sum.weight = 6;
  site.data(1, 0, 2);
  site.deliver(1, sum, 12, sealed(11));
  EXPECT_EQ(site.count(kOverlaps), 1u);  // some of it was seen
  site.edge.flush({0}, site);
  EXPECT_EQ(site.sent[0].value(), 10);
  EXPECT_EQ(site.sent[0].header.weight, 5u);
  sum.chunk = 1;
  site.deliver(1, sum, 12, sealed(11));
  EXPECT_EQ(site.last().value(), 12);
  EXPECT_EQ(site.last().header.weight, 6u);
}

TEST(Edge, ZerosTravelWithoutTheirPayload) {
  Site site;
  for (int bit = 1; bit < 4; ++bit) site.data(bit, 0, 0, flag::kZero);
  EXPECT_EQ(site.last().header.flags, flag::kZero);
  EXPECT_EQ(site.last().bytes.size(), packet_bytes(0));
  site.data(1, 1, 0, flag::kZero);
  site.data(2, 1, 3);
  site.data(3, 1, 0, flag::kZero);
  EXPECT_EQ(site.last().header.flags, 0);
  EXPECT_EQ(site.last().value(), 3);
}

TEST(Edge, AContributionOnAnotherGridIsDropped) {
  AggregationSpec spec = spec_of(1, 8, Element::kI32);
  spec.grid = Grid(-4);
  Site site(spec);
  for (const int exponent : {0, -4}) {
    Header data = site.header_of(PacketType::kData, 0, 0b0010);
    data.flags = flag::kGrid;
    data.set_content(Element::kI32, Operation::kWeightedSum, exponent);
    site.deliver(1, data, 1, sealed(11));
  }
  EXPECT_EQ(site.count(kAccepted), 1u);
  EXPECT_EQ(site.count(kUnexpected), 1u);
}

// Types that are reserved, and those that are somebody else's to say.
TEST(Edge, NoStreamAndNoIslandMaySendWhatIsNotTheirsToSay) {
  Site site;
  for (const PacketType type : {PacketType::kRepair, PacketType::kGone, PacketType::kControl}) {
    site.deliver(1, site.header_of(type, 0, 0b0010), 1, sealed(11));
    site.from_island(type, 0);
  }
  site.deliver(1, site.header_of(PacketType::kHeartbeat, 0, 0), 1, sealed(11));  // of nobody
  EXPECT_EQ(site.count(kUnexpected), 7u);
  EXPECT_TRUE(site.sent.empty());
}

TEST(Edge, AContributionWithANanIsDroppedWholeAndTheEndSaysSo) {
  Site site;
  site.data(1, 0);
  site.data(2, 0, std::numeric_limits<float>::quiet_NaN());
  site.data(3, 0);
  site.edge.flush({0}, site);  // for a clean stop
  ASSERT_EQ(site.sent.size(), 2u);
  EXPECT_EQ(site.sent[0].header.mask, 0b1010u);
  EXPECT_EQ(site.sent[0].header.flags, flag::kNanDropped);
  EXPECT_EQ(site.sent[1].type(), PacketType::kEnd);
  EXPECT_EQ(site.sent[1].header.flags, flag::kNanDropped);
}

}  // namespace
}  // namespace cotillion
