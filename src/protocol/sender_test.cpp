// One island's stream: when its chunks leave, when they are copied, and what they say.
#include "protocol/sender.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "protocol/announcement.hpp"

namespace cotillion {
namespace {

constexpr BootId kBoot = 77;
constexpr Instant kStart{5'000'000'000'000};
constexpr Duration kMs{1'000'000'000};

Seal seal_of(bool authenticated, SourceName name, BootId boot) {
  Seal seal = authenticated ? Seal(Key{std::uint8_t(name)}, 1, name) : Seal();
  seal.set_boot(boot);
  return seal;
}

struct Sent {
  Instant when;
  std::vector<std::byte> bytes;
  [[nodiscard]] Header header() const { return *read_header(bytes); }
  [[nodiscard]] PacketType type() const { return header().type(); }
};

struct Copied {
  Instant when;
  RoundId round;
  std::uint64_t first;
  std::size_t count;
};

// An island of 10 chunks of 16 floats, the last one short, in 5 fragments.
struct Island final : FragmentSource, Outbox {
  explicit Island(SenderSettings given = {}, Element element = Element::kF32, bool mac = false)
      : job{.id = 1, .element = element, .elements = 150, .beats = 1, .fragments = 5},
        snapshots(job, Grid(0), 2),
        sender(given, snapshots, *this, seal_of(mac, 1, kBoot)) {}

  void snapshot(RoundId round, std::uint64_t first, std::span<float> values) override {
    copies.push_back({now, round, first, values.size()});
    std::fill(values.begin(), values.end(), value);
  }
  void send(Towards towards, ByteView packet) override {
    EXPECT_EQ(towards, Towards::kGroup);
    sent.push_back({now, {packet.begin(), packet.end()}});
  }
  void run(Instant until) {
    for (int turns = 0; sender.next_deadline() <= until; ++turns) {
      ASSERT_LT(turns, 10'000) << "the deadline stands still";
      ASSERT_GE(sender.next_deadline(), now);
      now = sender.next_deadline();
      sender.on_time(now, *this);
    }
    now = until;
  }
  [[nodiscard]] std::vector<Sent> of(PacketType type) const {
    std::vector<Sent> found;
    for (const Sent& packet : sent)
      if (packet.type() == type) found.push_back(packet);
    return found;
  }
  JobSpec job;
  Instant now{0};
  float value = 1;
  std::vector<Copied> copies;
  std::vector<Sent> sent;
  Snapshots snapshots;
  Sender sender;
};

// 80 bytes a chunk take 64 ns at 10 Gb/s.
StreamSpec stream(RoundId round = 7) {
  return {.round = round,
          .epoch = 2,
          .clique = 5,
          .bit = 3,
          .start = kStart,
          .offset = kMs,
          .rate = {1e10}};
}
constexpr SenderSettings kFramed{.framing = {16}};
constexpr std::int64_t kChunkPs = 64'000;

TEST(Sender, ChunksLeaveInOrderOnThePlansLine) {
  for (const double rate : {1e10, 7.77e9, 1.234567e6}) {
    Island island(kFramed);
    StreamSpec spec = stream();
    spec.rate = {rate};
    island.sender.open_round(spec);
    island.run(kStart + Duration{10'000'000'000'000});
    const auto data = island.of(PacketType::kData);
    ASSERT_EQ(data.size(), 10u);
    for (std::uint32_t c = 0; c < 10; ++c) {
      EXPECT_EQ(data[c].header().chunk, c);
      EXPECT_EQ(data[c].header().sequence, c);
      const auto line = Duration{std::llround(c * (64 + 16) * 8e12 / rate)};
      EXPECT_EQ(data[c].when, kStart + kMs + line) << rate << " " << c;
      EXPECT_EQ(data[c].when, island.sender.departure(c));
    }
    EXPECT_EQ(island.sender.counters().sent, 10u);
  }
}

TEST(Sender, APacketSaysWhatItIsAndWhose) {
  Island island;
  StreamSpec spec = stream();
  spec.weight = 4;
  spec.weight_sum = 9;
  island.sender.open_round(spec);
  island.run(kStart + kMs + kMs);
  const Sent data = island.of(PacketType::kData)[2];
  EXPECT_EQ(data.header().mask, 0b1000u);
  EXPECT_EQ(data.header().weight, 4u);
  EXPECT_EQ(data.header().epoch(), 2);
  EXPECT_EQ(data.header().clique(), 5);
  EXPECT_TRUE(std::ranges::equal(payload_of(ByteView(data.bytes)), island.snapshots.chunk(7, 2)));
  EXPECT_TRUE(seal_of(false, 1, kBoot).holds(data.bytes));
}

TEST(Sender, AnnouncesItselfBeforeItSpeaks) {
  Island island;
  EXPECT_EQ(island.sender.next_deadline(), kNever);
  island.sender.open_round(stream());
  EXPECT_EQ(island.sender.next_deadline(), kStart);
  island.run(kStart);
  ASSERT_EQ(island.sent.size(), 1u);
  EXPECT_EQ(island.sent[0].type(), PacketType::kHeartbeat);
  EXPECT_EQ(boot_in(island.sent[0].bytes), kBoot);
  EXPECT_EQ(island.sent[0].header().mask, 0b1000u);
  EXPECT_EQ(island.sender.next_deadline(), kStart + kMs);
}

TEST(Sender, EndFollowsTheLastChunkAndIsRepeatedWithHeartbeats) {
  Island island({.heartbeat = kMs});
  island.sender.open_round(stream());
  EXPECT_FALSE(island.sender.all_sent());
  island.run(kStart + kMs + kMs + kMs);
  EXPECT_TRUE(island.sender.all_sent());
  const auto ends = island.of(PacketType::kEnd);
  ASSERT_EQ(ends.size(), 3u);
  EXPECT_EQ(ends[0].when, island.of(PacketType::kData).back().when);
  for (const Sent& end : ends) EXPECT_EQ(end.header().chunk, 10u);
  const auto beats = island.of(PacketType::kHeartbeat);
  ASSERT_EQ(beats.size(), 6u);  // the first few close together: one of them may be lost
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(beats[i].header().sequence, i);  // nonces
  EXPECT_EQ(beats[1].when - beats[0].when, Duration{kMs.ps / 16});
  EXPECT_EQ(ends[1].when, beats[4].when);
  EXPECT_EQ(beats[5].header().chunk, 10u);
}

TEST(Sender, GreetsFourTimesAndThenSaysHowFarItHasComeNowAndThen) {
  Island island({.framing = {16}, .heartbeat = {4 * kChunkPs}});
  StreamSpec spec = stream();
  spec.offset = {0};
  island.sender.open_round(spec);
  island.run(kStart + Duration{9 * kChunkPs});
  std::vector<std::pair<std::int64_t, std::uint32_t>> beats;  // when, in quarters; how far
  for (const Sent& beat : island.of(PacketType::kHeartbeat))
    beats.emplace_back((beat.when - kStart).ps * 4 / kChunkPs, beat.header().chunk);
  const decltype(beats) expected = {{0, 0}, {1, 1}, {2, 1}, {3, 1}, {19, 5}, {35, 9}};
  EXPECT_EQ(beats, expected);
}

TEST(Sender, SequencesGoOnFromRoundToRound) {
  Island island;
  island.sender.open_round(stream(7));
  island.run(kStart + kMs);  // one chunk only; the rest is never sent
  StreamSpec next = stream(8);
  next.start = kStart + kMs + kMs;
  island.sender.open_round(next);
  island.run(next.start + kMs + kMs);
  const auto data = island.of(PacketType::kData);
  ASSERT_EQ(data.size(), 11u);
  EXPECT_EQ(data[1].header().round, 8u);
  EXPECT_EQ(data[1].header().sequence, 10u);
  EXPECT_EQ(island.of(PacketType::kEnd)[0].header().chunk, 20u);
}

// The stream of round 8 is to begin 12 chunks after that of round 7.
StreamSpec following() {
  StreamSpec next = stream(8);
  next.start = kStart + Duration{12 * kChunkPs} - Duration{4 * kChunkPs};
  next.offset = kMs + Duration{4 * kChunkPs};
  next.follows = true;
  return next;
}

TEST(Sender, HasTwoStreamsInHandWhereRoundsOverlap) {
  Island island({.exchange = Exchange::kStreamed, .framing = {16}});
  island.sender.open_round(stream(7));
  island.sender.open_round(following());
  EXPECT_FALSE(island.sender.is_past(7, 9));
  EXPECT_FALSE(island.sender.is_past(8, 0));
  EXPECT_EQ(island.sender.departure(8, 0), kStart + kMs + Duration{12 * kChunkPs});
  EXPECT_EQ(island.sender.departure(9, 0), kNever);
  island.run(kStart + kMs + kMs);
  const auto data = island.of(PacketType::kData);
  ASSERT_EQ(data.size(), 20u);
  for (std::uint32_t c = 0; c < 20; ++c) {
    EXPECT_EQ(data[c].header().round, c < 10 ? 7u : 8u);
    EXPECT_EQ(data[c].header().sequence, c);
    EXPECT_EQ(data[c].when, kStart + kMs + Duration{(c < 10 ? c : c + 2) * kChunkPs});
  }
  EXPECT_EQ(island.of(PacketType::kEnd)[0].when, data[9].when);
  EXPECT_TRUE(island.sender.is_past(7, 9));
  EXPECT_TRUE(island.sender.all_sent());
}

TEST(Sender, SaysWhoseRoundEveryPacketIs) {
  struct Watched final : Outbox {
    void send(Towards, ByteView packet) override {
      EXPECT_EQ(read_header(packet)->round, island.sender.speaks_for());
      ++packets;
    }
    Island island{{.exchange = Exchange::kStreamed, .framing = {16}}};
    int packets = 0;
  } watched;
  watched.island.sender.open_round(stream(7));
  watched.island.sender.open_round(following());
  for (int turn = 0; turn < 40; ++turn)
    watched.island.sender.on_time(watched.island.sender.next_deadline(), watched);
  EXPECT_GE(watched.packets, 22);
}

TEST(Sender, AStreamThatIsALittleLateEndsBeforeTheNextOneBegins) {
  Island island({.exchange = Exchange::kStreamed, .framing = {16}, .catch_up = {4 * kChunkPs}});
  island.sender.open_round(stream(7));
  island.sender.open_round(following());
  island.run(kStart + kMs);
  island.now = kStart + kMs + Duration{8 * kChunkPs};
  island.sender.on_time(island.now, island);  // chunk 1 is seven chunks late: it slips by three
  island.run(kStart + kMs + kMs);
  const auto data = island.of(PacketType::kData);
  ASSERT_EQ(data.size(), 20u);
  EXPECT_EQ(data[9].when, kStart + kMs + Duration{12 * kChunkPs});
  EXPECT_EQ(data[10].when, data[9].when);  // and nothing of the next one has slipped
  EXPECT_EQ(island.sender.counters().slipped_ps, std::uint64_t(3 * kChunkPs));
}

TEST(Sender, AStreamEndsWhereItMakesTheNextOneTooLate) {
  Island island({.exchange = Exchange::kStreamed, .framing = {16}, .catch_up = {4 * kChunkPs}});
  island.sender.open_round(stream(7));
  island.sender.open_round(following());
  island.run(kStart + kMs);
  island.now = kStart + kMs + Duration{14 * kChunkPs};
  island.sender.on_time(island.now, island);  // chunk 1 is 13 chunks late: it slips by nine
  island.run(kStart + kMs + kMs);
  const auto data = island.of(PacketType::kData);
  ASSERT_LT(data.size(), 20u);
  for (std::uint32_t c = 0; c < 10; ++c) {
    const Sent& chunk = data[data.size() - 10 + c];
    EXPECT_EQ(chunk.header().round, 8u);
    EXPECT_EQ(chunk.header().sequence, 10 + c);
    EXPECT_EQ(chunk.when, std::max(kStart + kMs + Duration{(12 + c) * kChunkPs},
                                   kStart + kMs + Duration{16 * kChunkPs}));
  }
  EXPECT_TRUE(island.sender.is_past(7, 9));
}

TEST(Sender, WholeCopiesAllAtTheStartOfTheRound) {
  Island island({.exchange = Exchange::kWhole});
  island.sender.open_round(stream());
  island.run(kStart + kMs + kMs);
  ASSERT_EQ(island.copies.size(), 10u);
  for (std::size_t c = 0; c < 10; ++c) {
    EXPECT_EQ(island.copies[c].when, kStart);
    EXPECT_EQ(island.copies[c].first, 16 * c);
    EXPECT_EQ(island.copies[c].count, c < 9 ? 16u : 6u);
  }
}

TEST(Sender, StreamedCopiesEachFragmentWhenItIsDueToLeave) {
  Island island({.exchange = Exchange::kStreamed, .framing = {16}});
  island.sender.open_round(stream());
  island.run(kStart + kMs + kMs);
  ASSERT_EQ(island.copies.size(), 10u);
  for (std::uint32_t c = 0; c < 10; ++c) {
    EXPECT_EQ(island.copies[c].first, 16 * c);
    EXPECT_EQ(island.copies[c].when, island.sender.departure(c / 2 * 2)) << c;  // two a fragment
  }
}

TEST(Sender, AShortStallIsMadeUpForInABurst) {
  Island island({.framing = {16}, .catch_up = {4 * kChunkPs}});
  island.sender.open_round(stream());
  island.run(kStart + kMs);
  island.now = kStart + kMs + Duration{5 * kChunkPs};
  island.sender.on_time(island.now, island);  // chunk 1 is four chunks late
  EXPECT_EQ(island.of(PacketType::kData).size(), 6u);
  EXPECT_EQ(island.sender.counters().slipped_ps, 0u);
  EXPECT_EQ(island.sender.departure(9), kStart + kMs + Duration{9 * kChunkPs});
}

TEST(Sender, ALongStallShiftsTheRestAndIsCounted) {
  Island island({.framing = {16}, .catch_up = {4 * kChunkPs}});
  island.sender.open_round(stream());
  island.run(kStart + kMs);
  island.now = kStart + kMs + Duration{11 * kChunkPs};
  island.sender.on_time(island.now, island);  // chunk 1 is ten chunks late: six too many
  EXPECT_EQ(island.of(PacketType::kData).size(), 6u);
  EXPECT_EQ(island.sender.counters().slipped_ps, std::uint64_t(6 * kChunkPs));
  EXPECT_EQ(island.sender.departure(9), kStart + kMs + Duration{15 * kChunkPs});
}

TEST(Sender, ZerosAreLeftOutAndClampedValuesFlagged) {
  Island island({}, Element::kI32);
  island.value = 0;
  island.sender.open_round(stream());
  island.run(kStart + kMs + kMs);
  for (const Sent& data : island.of(PacketType::kData)) {
    EXPECT_EQ(data.bytes.size(), packet_bytes(0));
    EXPECT_EQ(data.header().flags, flag::kZero | flag::kGrid);
  }
  island.value = 3e9f;
  StreamSpec next = stream(8);
  next.start = island.now;
  next.weight_sum = 8;
  island.sender.open_round(next);
  island.run(next.start + kMs + kMs);
  const Sent data = island.of(PacketType::kData).back();
  EXPECT_EQ(data.header().flags, flag::kClamped | flag::kGrid);
  EXPECT_EQ(payload_of(ByteView(data.bytes))[3], std::byte(0x0f));  // ⌊(2³¹−1)/8⌋
  EXPECT_EQ(island.sender.counters().clamped, 10u);
}

TEST(Sender, AChunkWithANanOnTheGridIsNeverSent) {
  Island island({}, Element::kI32);
  island.value = std::nanf("");
  island.sender.open_round(stream());
  island.run(kStart + kMs + kMs);
  EXPECT_TRUE(island.of(PacketType::kData).empty());
  EXPECT_EQ(island.of(PacketType::kEnd).size(), 1u);
  EXPECT_EQ(island.sender.counters().withheld, 10u);
}

}  // namespace
}  // namespace cotillion
