// Bitmaps of numbers: what goes in comes out, in whole beats.
#include "protocol/request.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/random.hpp"

namespace cotillion {
namespace {

using Numbers = std::vector<std::uint32_t>;

Header nak() {
  Header header;
  header.set_type(PacketType::kNak);
  header.job = 3;
  header.round = 7;
  return header;
}

Numbers read_back(ByteView packet) {
  Numbers numbers;
  const auto header = read_header(packet);
  EXPECT_TRUE(header.has_value());
  for_each_requested(*header, payload_of(packet), [&](auto number) { numbers.push_back(number); });
  return numbers;
}

TEST(Request, NumbersComeBackInOrder) {
  RequestWriter writer(2);
  for (const std::uint32_t n : {500u, 507u, 508u, 1011u}) EXPECT_TRUE(writer.add(n));
  const ByteSpan packet = writer.packet(nak());
  EXPECT_EQ(read_header(packet)->chunk, 500u);
  EXPECT_EQ(read_header(packet)->round, 7u);
  EXPECT_EQ(packet.size(), packet_bytes(kBeatBytes));
  EXPECT_EQ(read_back(packet), (Numbers{500, 507, 508, 1011}));
}

TEST(Request, ABitmapIsAsManyBeatsAsItsLastBitNeeds) {
  for (const std::uint32_t bits : {1u, 511u, 512u, 513u, 1024u, 1025u}) {
    RequestWriter writer(3);
    EXPECT_TRUE(writer.add(9));
    EXPECT_TRUE(writer.add(9 + bits - 1));
    const std::size_t beats = (bits + 511) / 512;
    EXPECT_EQ(writer.packet(nak()).size(), packet_bytes(beats * kBeatBytes)) << bits;
    EXPECT_EQ(read_back(writer.packet(nak())).back(), 9 + bits - 1);
  }
}

TEST(Request, WhatDoesNotFitWaitsForTheNextPacket) {
  RequestWriter writer(1);
  EXPECT_TRUE(writer.add(100));
  EXPECT_TRUE(writer.add(611));
  EXPECT_FALSE(writer.add(612));
  EXPECT_FALSE(writer.add(99));  // before the first
  EXPECT_EQ(read_back(writer.packet(nak())), (Numbers{100, 611}));
  writer.clear();
  EXPECT_TRUE(writer.add(612));
  EXPECT_EQ(read_back(writer.packet(nak())), Numbers{612});
}

TEST(Request, ANumberAskedForTwiceIsOneBit) {
  RequestWriter writer(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(writer.add(42));
  EXPECT_EQ(read_back(writer.packet(nak())), Numbers{42});
}

TEST(Request, NumbersGoOnBeyondTwoToTheThirtyTwo) {
  RequestWriter writer(1);
  for (const std::uint32_t n : {0xfffffff0u, 0xffffffffu, 0u, 400u}) EXPECT_TRUE(writer.add(n));
  EXPECT_FALSE(writer.add(0xfffffff0u + 512));
  EXPECT_EQ(read_back(writer.packet(nak())), (Numbers{0xfffffff0u, 0xffffffffu, 0, 400}));
}

TEST(Request, ClearingForgetsAllBits) {
  RequestWriter writer(1);
  EXPECT_TRUE(writer.empty());
  for (std::uint32_t n = 0; n < 512; ++n) EXPECT_TRUE(writer.add(n));
  EXPECT_FALSE(writer.empty());
  writer.clear();
  EXPECT_TRUE(writer.empty());
  EXPECT_TRUE(writer.add(77));
  EXPECT_EQ(read_back(writer.packet(nak())), Numbers{77});
}

TEST(Request, ABitmapWithoutPayloadAsksForNothing) {
  for_each_requested(nak(), {}, [](std::uint32_t) { FAIL(); });
}

// Any set in any order, cut into packets where the writer says so, comes out as it went in.
TEST(Request, RandomSetsInAnyOrderComeBackWhole) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    RequestWriter writer(int(random.between(1, 4)));
    const auto base = std::uint32_t(random.next());
    const std::int64_t spread = random.between(1, 5000);
    std::set<std::uint32_t> in, out;
    const auto send = [&] {
      for (const std::uint32_t n : read_back(writer.packet(nak()))) out.insert(n);
      writer.clear();
    };
    for (std::int64_t i = random.between(1, 400); i > 0; --i) {
      const std::uint32_t number = base + std::uint32_t(random.between(0, spread));
      in.insert(number);
      if (writer.add(number)) continue;
      send();
      ASSERT_TRUE(writer.add(number));
    }
    send();
    ASSERT_EQ(in, out) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cotillion
