// The island's end of the last hop. The edge is played by the test: it says what comes, and when.
#include "protocol/receiver.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <tuple>

#include "protocol/announcement.hpp"

namespace cotillion {
namespace {

constexpr ChunkId kChunks = 8;  // of 16 floats
constexpr Instant kEnd{100'000};
constexpr ContributorMask kAll = 0b1110;
using Numbers = std::vector<std::uint32_t>;
using enum ReceiverCount;
using Ready = std::tuple<RoundId, int, std::int64_t>;  // fragment, when
struct Sent {
  Instant when;
  Header header;
  Numbers numbers;  // of a request
};

Header header_of(PacketType type, RoundId round) {
  Header header;
  header.set_type(type);
  header.job = 1;
  header.round = round;
  return header;
}
Header sum_of(RoundId round, ChunkId chunk, ContributorMask mask, std::uint32_t sequence) {
  Header header = header_of(mask == kAll ? PacketType::kResult : PacketType::kPartial, round);
  header.chunk = chunk;
  header.mask = mask;
  header.weight = std::uint32_t(std::popcount(mask));
  header.sequence = sequence;
  header.set_content(Element::kF32, Operation::kSum, 0);
  return header;
}

// Island 0 of 4. Chunk c is due at 10,000 + 10,000·c, and given up 5,000 later. Its own copy is 2
// everywhere.
struct Island final : Outbox, ReceiverEvents {
  explicit Island(Exchange exchange = Exchange::kWhole, std::size_t late_chunks = 64)
      : job{.elements = 128, .beats = 1, .fragments = exchange == Exchange::kWhole ? 1 : 4},
        snapshots(job, Grid(0), 2),
        merge(job, {}),
        receiver({.exchange = exchange,
                  .gaps = {.window = 64, .round_trip = {100}, .requests_max = 4},
                  .heartbeat = {1'000'000},
                  .late_chunks = late_chunks,
                  .islands = 4,
                  .keep_merged = false},
                 snapshots, merge, sealed(1), Seal()),
        edge(sealed(1)),
        x(job.elements) {}

  void open(RoundId round, Instant merge_at = kEnd, std::int64_t shift = 0) {
    RoundSpec spec = equal_round(round, 4, 0);
    spec.first_deadline = {shift + 10'000};
    spec.last_deadline = {shift + 80'000};
    ASSERT_TRUE(receiver.open_round(now, {spec, merge_at, {5'000}}, *this, *this).has_value());
  }
  void copy(ChunkId from, ChunkId to) {
    const std::vector<float> own(16, 2.0f);
    for (ChunkId chunk = from; chunk < to; ++chunk) snapshots.take(7, chunk, own, {});
  }
  // The usual beginning: round 7 is open and copied, and the edge has announced itself.
  void begin() {
    open(7);
    copy(0, kChunks);
    announce(PacketType::kHeartbeat, 7, 0, 0);
  }
  void announce(PacketType type, RoundId round, std::uint32_t first, std::uint32_t next) {
    Header header = header_of(type, round);
    header.weight = first;
    header.chunk = next;
    Announcement room;
    receiver.on_packet(now, write_announcement(room, header, edge), *this, *this);
  }
  void deliver(const Header& header, float value = 10) {
    std::vector<std::byte> packet(packet_bytes(header.has(flag::kZero) ? 0 : kBeatBytes));
    write_header(header, packet);
    const std::vector<float> values(16, value);
    std::memcpy(packet.data() + kHeaderBytes, values.data(), packet.size() - packet_bytes(0));
    edge.close(packet);
    receiver.on_packet(now, packet, *this, *this);
  }
  // The usual sum: of round 7, numbered like its chunk.
  void sum(ChunkId chunk, ContributorMask mask = kAll, float value = 10) {
    deliver(sum_of(7, chunk, mask, chunk), value);
  }
  void run(Instant until) {
    for (; receiver.next_deadline() <= until; receiver.on_time(now, *this, *this))
      now = std::max(now, receiver.next_deadline());
    now = until;
  }
  [[nodiscard]] std::vector<Sent> of(PacketType type) const {
    std::vector<Sent> found;
    for (const Sent& one : sent)
      if (one.header.type() == type) found.push_back(one);
    return found;
  }
  [[nodiscard]] std::uint64_t count(ReceiverCount which) const {
    return receiver.counters()[which];
  }
  double average(ChunkId chunk) {
    std::vector<double> values(16);
    receiver.average(7, chunk, values);
    return values[15];
  }

  void send(Towards, SourceId, ByteView packet) override {
    sent.push_back({now, *read_header(packet), {}});
    for_each_requested(sent.back().header, payload_of(packet),
                       [&](auto number) { sent.back().numbers.push_back(number); });
  }
  void fragment_ready(RoundId round, int fragment) override {
    ready.emplace_back(round, fragment, now.ps);
    if (merges) receiver.merge(round, fragment, x);
  }
  void late_ready(RoundId, int) override {}
  void round_closed(RoundId round, std::span<const Absence> absences) override {
    closed.emplace_back(round, now.ps);
    absent.assign(absences.begin(), absences.end());
  }

  JobSpec job;
  Instant now{0};
  bool merges = true;
  std::vector<Sent> sent;
  std::vector<Ready> ready;
  std::vector<std::pair<RoundId, std::int64_t>> closed;  // when
  std::vector<Absence> absent;
  Snapshots snapshots;
  Merge merge;
  Receiver receiver;
  Seal edge;
  std::vector<float> x;
};

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
    EXPECT_EQ(island.absent[i].member, int(i) + 1);
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
