// The packets of one round, kept at the sender's own edge for edges that lack them.
#include "protocol/keeper.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "protocol/announcement.hpp"

namespace cotillion {
namespace {

constexpr JobSpec kJob{.id = 1, .elements = 16 * 1200, .beats = 1};  // 1200 chunks of one beat
enum Name : SourceName { kIsland = 1, kOwn = 2, kAsker = 10 };

Seal seal_of(SourceName name, BootId boot) {
  Seal seal(Key{std::uint8_t(name)}, 1, name);
  seal.set_boot(boot);
  return seal;
}

Header header_of(PacketType type, RoundId round = 7) {
  Header header;
  header.set_type(type);
  header.job = kJob.id;
  header.round = round;
  header.mask = 0b100;
  header.set_meeting(2, 5);
  return header;
}

struct Answer {
  SourceId to;
  std::vector<std::byte> bytes;
  [[nodiscard]] Header header() const { return *read_header(bytes); }
};

struct Site final : Outbox {
  Site() : keeper(kJob, seals()) {
    keeper.open_round(7, 2, 5, 2);
    hear_island(4);
  }
  static KeeperSeals seals() {
    KeeperSeals seals{seal_of(kOwn, 3), seal_of(kIsland, 0), {}};
    seals.askers.push_back(seal_of(kAsker, 1));
    seals.askers.push_back(seal_of(kAsker + 1, 1));
    return seals;
  }
  void send(Towards towards, SourceId source, ByteView packet) override {
    EXPECT_EQ(towards, Towards::kSource);
    answers.push_back({source, {packet.begin(), packet.end()}});
  }
  void hear_island(BootId boot) {
    island = seal_of(kIsland, boot);
    Announcement room;
    keeper.on_stream(write_announcement(room, header_of(PacketType::kHeartbeat), island));
  }
  std::vector<std::byte> data(ChunkId chunk, RoundId round = 7, bool zero = false) {
    Header header = header_of(PacketType::kData, round);
    header.chunk = header.sequence = chunk;
    header.flags = zero ? flag::kZero : 0;
    std::vector<std::byte> packet(packet_bytes(zero ? 0 : kBeatBytes), std::byte(chunk));
    write_header(header, packet);
    island.close(packet);
    return packet;
  }
  void ask(const std::vector<std::uint32_t>& chunks, RoundId round = 7, SourceName name = kAsker,
           BootId boot = 1, std::size_t from = 0) {
    RequestWriter writer(3);
    for (const std::uint32_t chunk : chunks) ASSERT_TRUE(writer.add(chunk));
    Seal seal = seal_of(name, boot);
    const ByteSpan packet = writer.packet(header_of(PacketType::kRepair, round));
    seal.close(packet);
    keeper.on_request(from, packet, *this);
  }
  [[nodiscard]] std::vector<std::uint32_t> gone() const {
    std::vector<std::uint32_t> numbers;
    for (const Answer& answer : answers)
      if (answer.header().type() == PacketType::kGone)
        for_each_requested(answer.header(), payload_of(ByteView(answer.bytes)),
                           [&](auto number) { numbers.push_back(number); });
    return numbers;
  }

  Seal island;
  Keeper keeper;
  std::vector<Answer> answers;
};

TEST(Keeper, WhatTheIslandSentIsAnsweredAsItLeftButForResent) {
  Site site;
  site.keeper.on_stream(site.data(42));
  site.keeper.on_stream(site.data(43, 7, true));
  EXPECT_EQ(site.keeper.counters().kept, 2u);
  site.ask({42, 43}, 7, kAsker + 1, 1, 1);
  ASSERT_EQ(site.answers.size(), 2u);
  EXPECT_EQ(site.keeper.counters().resent, 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(site.answers[i].to, 1);
    EXPECT_TRUE(site.island.holds(site.answers[i].bytes));  // the island's own seal
    site.answers[i].bytes[1] ^= std::byte(flag::kResent);
  }
  EXPECT_EQ(site.answers[0].bytes, site.data(42));
  EXPECT_EQ(site.answers[1].bytes, site.data(43, 7, true));
}

TEST(Keeper, WhatItHasNotIsGoneInPlainWords) {
  Site site;
  site.keeper.on_stream(site.data(5));
  site.ask({4, 5, 6});
  ASSERT_EQ(site.answers.size(), 2u);
  EXPECT_EQ(site.gone(), (std::vector<std::uint32_t>{4, 6}));
  const Header gone = site.answers[1].header();
  EXPECT_EQ(gone.mask, 0b100u);
  EXPECT_EQ(gone.round, 7u);
  EXPECT_EQ(gone.sequence, 0u);
  EXPECT_TRUE(seal_of(kOwn, 3).holds(site.answers[1].bytes));
  EXPECT_EQ(site.keeper.counters().gone, 2u);
  site.ask({4});
  EXPECT_EQ(site.answers.back().header().sequence, 1u);  // a nonce is never used again
}

TEST(Keeper, ALongRefusalTakesSeveralPackets) {
  Site site;
  std::vector<std::uint32_t> all(1200);
  for (std::uint32_t i = 0; i < 1200; ++i) all[i] = i;
  site.ask(all);
  EXPECT_EQ(site.answers.size(), 3u);  // its packets are as long as the job's: one beat
  EXPECT_EQ(site.gone(), all);
}

TEST(Keeper, OlderRoundsAreGone) {
  Site site;
  site.keeper.on_stream(site.data(5));
  site.keeper.open_round(8, 2, 5, 2);
  site.ask({5}, 8);  // not sent in this round yet
  EXPECT_EQ(site.gone(), std::vector<std::uint32_t>{5});
  site.keeper.on_stream(site.data(5, 8));
  site.answers.clear();
  site.ask({5}, 7);  // another chunk 5
  EXPECT_EQ(site.gone(), std::vector<std::uint32_t>{5});
  EXPECT_EQ(site.answers[0].header().round, 7u);
  EXPECT_EQ(site.keeper.counters().resent, 0u);
}

TEST(Keeper, ChunksThatTheModelDoesNotHaveAreNobodysBusiness) {
  Site site;
  site.ask({1199, 1200, 1300});
  EXPECT_EQ(site.gone(), std::vector<std::uint32_t>{1199});
}

TEST(Keeper, ACopyIsKeptOnce) {
  Site site;
  site.keeper.on_stream(site.data(5));
  site.keeper.on_stream(site.data(5));
  EXPECT_EQ(site.keeper.counters().kept, 1u);
}

TEST(Keeper, ForgedPacketsAreNotKept) {
  Site site;
  std::vector<std::byte> packet = site.data(5);
  packet[40] ^= std::byte(1);
  site.keeper.on_stream(packet);
  EXPECT_EQ(site.keeper.counters().forged, 1u);
  EXPECT_EQ(site.keeper.counters().kept, 0u);
  site.ask({5});
  EXPECT_EQ(site.gone(), std::vector<std::uint32_t>{5});
}

TEST(Keeper, ForgedRequestsAreNotAnswered) {
  Site site;
  site.keeper.on_stream(site.data(5));
  site.ask({5}, 7, kAsker + 1);  // in another's name
  site.ask({5}, 7, kAsker, 2);   // of a boot that was never announced
  EXPECT_EQ(site.keeper.counters().forged, 2u);
  EXPECT_TRUE(site.answers.empty());
}

TEST(Keeper, PacketsOfOtherRoundsAndStrangersAreUnexpected) {
  Site site;
  site.keeper.on_stream(site.data(5, 6));
  EXPECT_EQ(site.keeper.counters().unexpected, 1u);
  site.keeper.on_stream(std::vector<std::byte>(7));
  site.ask({5}, 7, kAsker, 1, 2);  // a number that no edge has
  site.keeper.on_request(0, site.data(5), site);
  EXPECT_EQ(site.keeper.counters().unexpected, 4u);
  EXPECT_TRUE(site.answers.empty());
}

TEST(Keeper, LearnsTheIslandsNewBootFromItsStream) {
  Site site;
  const auto before = site.data(4);
  site.hear_island(5);
  site.keeper.on_stream(before);
  EXPECT_EQ(site.keeper.counters().forged, 1u);
  site.keeper.on_stream(site.data(5));
  EXPECT_EQ(site.keeper.counters().kept, 1u);
}

TEST(Keeper, LearnsARestartedAskersBootAndAnswersWithItsOwn) {
  Site site;
  site.keeper.on_stream(site.data(5));
  Seal restarted = seal_of(kAsker, 9);
  Announcement room;
  site.keeper.on_request(0, write_announcement(room, header_of(PacketType::kHeartbeat), restarted),
                         site);
  ASSERT_EQ(site.answers.size(), 1u);
  EXPECT_EQ(boot_in(site.answers[0].bytes), 3u);
  EXPECT_TRUE(seal_of(kOwn, 3).holds(site.answers[0].bytes));
  site.ask({5}, 7, kAsker, 9);
  EXPECT_EQ(site.keeper.counters().resent, 1u);
  EXPECT_EQ(site.keeper.counters().forged, 0u);
  Seal old = seal_of(kAsker, 2);  // played again
  site.keeper.on_request(0, write_announcement(room, header_of(PacketType::kHeartbeat), old), site);
  EXPECT_EQ(site.keeper.counters().forged, 1u);
}

TEST(Keeper, ItsMemoryIsOneRound) {
  EXPECT_EQ(Keeper::bytes(kJob), 1200 * (128 + 4) + packet_bytes(64));
}

}  // namespace
}  // namespace cotillion
