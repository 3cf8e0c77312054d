// What an edge keeps of what it sent, and for how long.
#include "protocol/resend_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "base/random.hpp"

namespace cotillion {
namespace {

constexpr Duration kResend{1000};

// Writes something that only this packet holds.
void put(ResendStore& store, std::int64_t now, std::size_t payload = kBeatBytes) {
  const auto mark = std::byte(store.next() * 37 + 1);
  const ByteSpan packet = store.claim({now}, payload);
  ASSERT_EQ(packet.size(), packet_bytes(payload));
  std::fill(packet.begin(), packet.end(), mark);
}

bool holds(ResendStore& store, std::uint32_t sequence, std::size_t payload = kBeatBytes) {
  const ByteSpan packet = store.fetch({0}, sequence);
  if (packet.empty()) return false;
  EXPECT_EQ(packet.size(), packet_bytes(payload));
  EXPECT_TRUE(std::all_of(packet.begin(), packet.end(),
                          [&](std::byte b) { return b == std::byte(sequence * 37 + 1); }));
  return true;
}

TEST(ResendStore, APacketIsFoundByItsSequence) {
  ResendStore store(4, 2 * kBeatBytes, kResend);
  EXPECT_EQ(store.next(), 0u);
  put(store, 0);
  put(store, 1, 0);  // ZERO: no payload
  put(store, 2, 2 * kBeatBytes);
  EXPECT_EQ(store.next(), 3u);
  EXPECT_TRUE(holds(store, 0));
  EXPECT_TRUE(holds(store, 1, 0));
  EXPECT_TRUE(holds(store, 2, 2 * kBeatBytes));
}

TEST(ResendStore, WhatWasNotSentIsNotHere) {
  ResendStore store(4, kBeatBytes, kResend);
  EXPECT_FALSE(holds(store, 0));
  put(store, 0);
  for (const std::uint32_t sequence : {1u, 2u, 0x80000000u, 0xffffffffu})
    EXPECT_FALSE(holds(store, sequence)) << sequence;
}

TEST(ResendStore, TheOldestMakesRoomWhenItIsFull) {
  ResendStore store(3, kBeatBytes, kResend);
  for (int i = 0; i < 5; ++i) put(store, i);
  EXPECT_FALSE(holds(store, 0));
  EXPECT_FALSE(holds(store, 1));
  for (std::uint32_t i = 2; i < 5; ++i) EXPECT_TRUE(holds(store, i));
}

TEST(ResendStore, AnOverrunIsWhatIsOverwrittenYoungerThanTResend) {
  ResendStore store(2, kBeatBytes, kResend);
  put(store, 0);
  put(store, 1);
  EXPECT_EQ(store.overruns(), 0u);
  put(store, 999);  // over one of age 999
  EXPECT_EQ(store.overruns(), 1u);
  put(store, 1001);  // over one of age 1000: it has been kept for long enough
  EXPECT_EQ(store.overruns(), 1u);
  put(store, 1002);
  EXPECT_EQ(store.overruns(), 2u);
}

TEST(ResendStore, WhatIsAcknowledgedIsGone) {
  ResendStore store(4, kBeatBytes, kResend);
  for (int i = 0; i < 4; ++i) put(store, 0);
  store.acknowledge_below(3);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_FALSE(holds(store, i));
  EXPECT_TRUE(holds(store, 3));
  for (int i = 0; i < 3; ++i) put(store, 0);  // into room that nobody needs
  EXPECT_EQ(store.overruns(), 0u);
  put(store, 0);
  EXPECT_EQ(store.overruns(), 1u);
}

TEST(ResendStore, AnOldOrForeignAcknowledgementChangesNothing) {
  ResendStore store(4, kBeatBytes, kResend);
  for (int i = 0; i < 4; ++i) put(store, 0);
  store.acknowledge_below(2);
  for (const std::uint32_t sequence : {0u, 1u, 5u, 0x7fffffffu, 0xffffffffu})
    store.acknowledge_below(sequence);
  EXPECT_FALSE(holds(store, 1));
  EXPECT_TRUE(holds(store, 2));
  EXPECT_TRUE(holds(store, 3));
  store.acknowledge_below(4);
  EXPECT_FALSE(holds(store, 3));
}

TEST(ResendStore, ARequestThatCrossedItsAnswerIsKnown) {
  ResendStore store(2, kBeatBytes, kResend);
  put(store, 0);
  EXPECT_FALSE(store.just_resent({0}, 0, {50}));  // sent, but never again
  (void)store.fetch({100}, 0);
  EXPECT_TRUE(store.just_resent({100}, 0, {50}));
  EXPECT_TRUE(store.just_resent({149}, 0, {50}));
  EXPECT_FALSE(store.just_resent({150}, 0, {50}));
  EXPECT_FALSE(store.just_resent({100}, 1, {50}));
  put(store, 200);
  put(store, 200);  // in the place of 0
  EXPECT_FALSE(store.just_resent({120}, 2, {50}));
}

TEST(ResendStore, WhatStandsInLineLeavesInTurn) {
  ResendStore store(4, kBeatBytes, kResend);
  for (int i = 0; i < 3; ++i) put(store, 0);
  EXPECT_FALSE(store.anyone_in_line());
  EXPECT_TRUE(store.line_up(2));
  EXPECT_TRUE(store.line_up(0));
  EXPECT_FALSE(store.line_up(2));  // it stands there already
  EXPECT_EQ(store.next_in_line(), 2u);
  EXPECT_TRUE(store.line_up(2));
  EXPECT_EQ(store.next_in_line(), 0u);
  EXPECT_EQ(store.next_in_line(), 2u);
  EXPECT_EQ(store.next_in_line(), std::nullopt);
}

TEST(ResendStore, WhatIsGoneHasLeftTheLine) {
  ResendStore store(3, kBeatBytes, kResend);
  for (int i = 0; i < 3; ++i) put(store, 0);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(store.line_up(i));
  put(store, 0);  // in the place of 0
  EXPECT_TRUE(store.line_up(3));
  EXPECT_FALSE(store.line_up(2));
  store.acknowledge_below(2);
  EXPECT_EQ(store.next_in_line(), 2u);
  EXPECT_EQ(store.next_in_line(), 3u);
  EXPECT_EQ(store.next_in_line(), std::nullopt);
}

TEST(ResendStore, AClockThatStepsBackMakesNothingLookJustResent) {
  ResendStore store(3, kBeatBytes, kResend);
  put(store, 0);
  EXPECT_FALSE(store.fetch({5000}, 0).empty());
  EXPECT_TRUE(store.just_resent({5000}, 0, {10}));
  EXPECT_FALSE(store.just_resent({4000}, 0, {10}));
}

TEST(ResendStore, ItsMemoryIsKnownToTheByte) {
  constexpr std::size_t kRecord = 28;  // two instants, a length and its state; a place in line
  EXPECT_EQ(ResendStore::bytes(10, 64), 10 * (128 + kRecord));
  EXPECT_EQ(ResendStore::bytes(1, 1408), 1472 + kRecord);  // 1448, in whole cache lines
}

TEST(ResendStore, PacketsLieOnCacheLines) {
  ResendStore store(3, kBeatBytes, kResend);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(std::uintptr_t(store.claim({0}, kBeatBytes).data()) % kLineBytes, 0u);
}

// Against a plain queue.
TEST(ResendStore, DoesWhatAQueueWouldDo) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const auto packets = std::size_t(random.between(1, 9));
    ResendStore store(packets, kBeatBytes, kResend);
    std::deque<std::pair<std::uint32_t, std::int64_t>> queue;  // sequence, when
    std::uint64_t overruns = 0;
    std::int64_t now = 0;
    for (std::uint32_t next = 0; next < 300;) {
      now += random.between(0, 300);
      if (random.between(0, 9) == 0) {
        const auto below = next - std::uint32_t(random.between(0, std::min(next, 12u)));
        store.acknowledge_below(below);
        while (!queue.empty() && queue.front().first < below) queue.pop_front();
      } else {
        if (queue.size() == packets) {
          overruns += now - queue.front().second < kResend.ps ? 1 : 0;
          queue.pop_front();
        }
        put(store, now);
        queue.emplace_back(next++, now);
      }
      const auto kept = [&](std::uint32_t sequence) {
        return !queue.empty() && sequence >= queue.front().first && sequence < next;
      };
      for (std::uint32_t back = 0; back < 14; ++back)
        ASSERT_EQ(holds(store, next - back), kept(next - back)) << "seed " << seed;
      ASSERT_EQ(store.overruns(), overruns) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace cotillion
