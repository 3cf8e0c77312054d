#include "lab/wan_link.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

constexpr std::int64_t kMs = 1'000'000'000;

// 1000 bytes take a millisecond at 8 Mbps.
WanLinkSettings slow_link() {
  return {.lane = 0, .rate = {8e6}, .latency = {20 * kMs}, .queue = {10 * kMs}, .packets = 64};
}

std::vector<std::pair<PacketSlot, double>> all_of(WanLink& link) {
  std::vector<std::pair<PacketSlot, double>> seen;
  while (link.next_due() != kNever) {
    const auto due = link.take(link.next_due());
    seen.emplace_back(due->slot, Duration{due->due.ps}.ms());
  }
  return seen;
}

LaneFault fault_of(Mishap kind, double rate, Duration by = {0}) {
  LaneFault fault;
  fault.kind = kind;
  fault.lanes = {0};
  fault.rate = rate;
  fault.by = by;
  return fault;
}

using Arrivals = std::vector<std::pair<PacketSlot, double>>;

TEST(WanLink, TakesAsLongAsItsBytesAndThenItsLatency) {
  WanLink link(slow_link());
  EXPECT_EQ(link.next_due(), kNever);
  EXPECT_TRUE(link.enter(Instant{0}, 1000, 7).taken);
  EXPECT_FALSE(link.take(Instant{21 * kMs - 1}).has_value());
  EXPECT_EQ(all_of(link), (Arrivals{{7, 21.0}}));
}

TEST(WanLink, LetsPacketsWaitForThoseBeforeThem) {
  WanLink link(slow_link());
  for (PacketSlot slot = 0; slot < 3; ++slot) EXPECT_TRUE(link.enter(Instant{0}, 1000, slot).taken);
  EXPECT_TRUE(link.enter(Instant{50 * kMs}, 500, 3).taken);
  EXPECT_EQ(all_of(link), (Arrivals{{0, 21.0}, {1, 22.0}, {2, 23.0}, {3, 70.5}}));
  EXPECT_EQ(link.counts().queue_longest, Duration{2 * kMs});
  EXPECT_EQ(link.counts().bytes, 3500u);
}

TEST(WanLink, KeepsItsRateOverManyPacketsWhoseTimesAreNoWholePicoseconds) {
  WanLinkSettings settings = slow_link();
  settings.rate = {7e6};
  settings.queue = {100'000 * kMs};
  settings.packets = 1 << 14;
  WanLink link(settings);
  for (PacketSlot slot = 0; slot < 10'000; ++slot)
    ASSERT_TRUE(link.enter(Instant{0}, 1, slot).taken);
  const Arrivals seen = all_of(link);
  EXPECT_NEAR(seen.back().second - 20.0, 10'000 * 8 / 7e3, 1e-6);
}

TEST(WanLink, DropsTheTailOfAFullQueue) {
  WanLink link(slow_link());
  int taken = 0;
  for (PacketSlot slot = 0; slot < 20; ++slot)
    taken += link.enter(Instant{0}, 1000, slot).taken ? 1 : 0;
  EXPECT_EQ(taken, 11);  // the eleventh waits ten milliseconds, which is allowed
  EXPECT_EQ(link.counts().dropped, 9u);
  // What was dropped took no time on the link.
  EXPECT_TRUE(link.enter(Instant{11 * kMs}, 1000, 99).taken);
  EXPECT_EQ(all_of(link).back(), (std::pair<PacketSlot, double>{99, 32.0}));
}

TEST(WanLink, RefusesMorePacketsThanItHasRoomFor) {
  WanLinkSettings settings = slow_link();
  settings.packets = 4;
  WanLink link(settings);
  for (PacketSlot slot = 0; slot < 6; ++slot) (void)link.enter(Instant{0}, 0, slot);
  EXPECT_EQ(link.counts().overflowed, 2u);
  EXPECT_FALSE(link.put(Instant{0}, 9));
  EXPECT_EQ(all_of(link).size(), 4u);
}

TEST(WanLink, KeepsTheOrderUnderJitter) {
  Faults faults;
  faults.lanes = {fault_of(Mishap::kJitter, 1, {5 * kMs})};
  FaultDice dice(faults, 1, 3);
  WanLink link(slow_link(), &dice);
  Instant now{0};
  for (PacketSlot slot = 0; slot < 50; ++slot, now = now + Duration{kMs})
    ASSERT_TRUE(link.enter(now, 1000, slot, {0}).taken);
  const Arrivals seen = all_of(link);
  double most = 0;
  for (PacketSlot slot = 0; slot < 50; ++slot) {
    EXPECT_EQ(seen[slot].first, slot);
    const double extra = seen[slot].second - (21.0 + slot);
    EXPECT_GE(extra, 0);
    EXPECT_LE(extra, 5);
    most = std::max(most, extra);
  }
  EXPECT_GT(most, 2.5);
}

TEST(WanLink, LetsReorderedPacketsBeOvertaken) {
  Faults faults;
  faults.lanes = {fault_of(Mishap::kReorder, 1, {3 * kMs})};
  faults.lanes[0].until = {1};
  FaultDice dice(faults, 1, 1);
  WanLink link(slow_link(), &dice);
  EXPECT_TRUE(link.enter(Instant{0}, 1000, 0, {0}).taken);
  EXPECT_TRUE(link.enter(Instant{0}, 1000, 1, {1}).taken);
  EXPECT_EQ(all_of(link), (Arrivals{{1, 22.0}, {0, 24.0}}));
}

TEST(WanLink, LosesDoublesAndSpoilsAsTheDiceSay) {
  Faults faults;
  faults.lanes = {fault_of(Mishap::kLoss, 0.25), fault_of(Mishap::kDuplicate, 0.5, {kMs}),
                  fault_of(Mishap::kCorrupt, 0.125)};
  FaultDice dice(faults, 1, 5);
  WanLinkSettings settings = slow_link();
  settings.queue = {100'000 * kMs};
  settings.packets = 1 << 13;
  WanLink link(settings, &dice);
  std::uint64_t arrive = 0;
  for (PacketSlot slot = 0; slot < 4000; ++slot) {
    const auto fortune = link.enter(Instant{0}, 10, slot, {0});
    arrive += fortune.taken ? 1 : 0;
    if (fortune.copy_due) {
      ASSERT_TRUE(link.put(*fortune.copy_due, slot));
      ++arrive;
    }
  }
  EXPECT_EQ(all_of(link).size(), arrive);
  EXPECT_NEAR(double(link.counts().lost), 1000, 100);
  EXPECT_NEAR(double(link.counts().copied), 2000, 150);
  EXPECT_NEAR(double(link.counts().spoilt), 375, 80);
  EXPECT_EQ(link.counts().packets, 4000u);
}

TEST(WanLink, CarriesNothingWhileItIsDown) {
  Faults faults;
  faults.lanes = {fault_of(Mishap::kDown, 1)};
  faults.lanes[0].from = {10 * kMs};
  faults.lanes[0].until = {20 * kMs};
  FaultDice dice(faults, 1, 5);
  WanLink link(slow_link(), &dice);
  EXPECT_TRUE(link.enter(Instant{0}, 1, 0, {10 * kMs - 1}).taken);
  EXPECT_FALSE(link.enter(Instant{0}, 1, 1, {10 * kMs}).taken);
  EXPECT_TRUE(link.enter(Instant{0}, 1, 2, {20 * kMs}).taken);
  EXPECT_EQ(link.counts().lost, 1u);
  // Faults begin with the first round, not with the lab.
  EXPECT_TRUE(link.enter(Instant{0}, 1, 3).taken);
}

TEST(WanLink, DrawsTheSameOnOneLaneWhateverHappensToAnother) {
  Faults few, many;
  few.lanes = {fault_of(Mishap::kLoss, 0.5)};
  many.lanes = {few.lanes[0], fault_of(Mishap::kLoss, 0.5)};
  many.lanes[1].lanes = {1};
  FaultDice first(few, 2, 11), second(many, 2, 11);
  WanLink one(slow_link(), &first), other(slow_link(), &second);
  WanLinkSettings beside = slow_link();
  beside.lane = 1;
  WanLink noise(beside, &second);
  for (PacketSlot slot = 0; slot < 10; ++slot) {
    (void)noise.enter(Instant{0}, 1, slot, {0});
    EXPECT_EQ(one.enter(Instant{0}, 1, slot, {0}).taken,
              other.enter(Instant{0}, 1, slot, {0}).taken);
  }
}

TEST(WanLink, RemembersHowLateItsHostWas) {
  WanLink link(slow_link());
  for (int late = 1; late <= 100; ++late) link.note_emission(Instant{0}, Instant{late * 1'000'000});
  EXPECT_EQ(link.lateness().count(), 100u);
  EXPECT_NEAR(link.lateness().mean().ms(), 0.0505, 1e-6);
  EXPECT_NEAR(link.lateness().quantile(0.5).ms(), 0.050, 0.002);
  EXPECT_NEAR(link.lateness().quantile(0.99).ms(), 0.099, 0.004);
  EXPECT_EQ(link.lateness().max(), Duration{100'000'000});
  link.clear_counts();
  EXPECT_EQ(link.lateness().count(), 0u);
}

TEST(ErrorHistogram, KeepsItsPrecisionFromNanosecondsToSeconds) {
  for (std::int64_t ns = 1; ns < 4'000'000'000; ns = ns * 3 + 1) {
    ErrorHistogram histogram;
    histogram.add(Duration{ns * 1000});
    histogram.add(Duration{ns * 1000 * 2});
    EXPECT_NEAR(double(histogram.quantile(0.5).ps), double(ns) * 1000, double(ns) * 1000 * 0.035);
  }
  ErrorHistogram sum, early;
  early.add(Duration{-5});
  sum.add(early);
  EXPECT_EQ(sum.count(), 1u);
  EXPECT_EQ(sum.quantile(0.9), Duration{0});
}

}  // namespace
}  // namespace cotillion
