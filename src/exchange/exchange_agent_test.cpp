// The agent's side of the region: what is in flight stays as it is, and nothing is lost meanwhile.
#include "exchange/exchange_agent.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace cotillion {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr int kFragments = 3;
constexpr std::uint64_t kCount = 4;  // elements of each

// One process that is both sides.
struct Site {
  Site() : region(std::move(*ExchangeRegion::make(spec()))), hands(region, 0, kFragments) {
    for (int f = 0; f < kFragments; ++f) (void)offer(f, 1);
  }
  static RegionSpec spec() {
    RegionSpec spec{kFragments * kCount, {}, {"A", "B"}, 0};
    for (std::uint64_t f = 0; f < kFragments; ++f) spec.fragments.push_back({f * kCount, kCount});
    return spec;
  }
  bool offer(int f, float value) {
    const std::span<float> room = region.room(f);
    std::fill(room.begin(), room.end(), value);
    if (!room.empty()) region.offered(f, 1);
    return !room.empty();
  }
  void fly(int f, RoundId round) {
    ASSERT_TRUE(hands.take_hold(f));
    hands.fly(f, round);
    hands.let_go(f);
  }
  void piece(std::uint64_t at, float value) {
    hands.add(at, std::vector<float>(kCount / 2, value));
  }
  void end(RoundId round) {
    CorrectionAccount account;
    account.round = round;
    account.rounds = 1;
    hands.end(account);
  }
  void merge(int f, RoundId round, float value, float scale = 1) {
    ASSERT_TRUE(hands.begin(f, round));
    hands.scale(scale);
    piece(0, value);
    piece(kCount / 2, value);
    end(round);
  }
  void merge_late(int f, float value) {
    ASSERT_TRUE(hands.begin_late(f));
    piece(0, value);
    end(1);
  }
  // Training code takes what there is; its first element.
  float take(int f) {
    const float value = region.pending(f).front();
    region.fragment(f).taken = region.fragment(f).made.load();
    return value;
  }

  ExchangeRegion region;
  ExchangeAgent hands;
};

TEST(ExchangeAgent, ACopyInFlightStaysAsItIsWhenAnotherIsOffered) {
  Site site;
  site.fly(0, 1);
  ASSERT_TRUE(site.offer(0, 5));
  EXPECT_THAT(site.hands.flying(0, 1), Each(1));
  EXPECT_THAT(site.region.copy(0), Each(5));
  ASSERT_TRUE(site.offer(0, 6));
  EXPECT_THAT(site.hands.flying(0, 1), Each(1));
  site.merge(0, 1, 10);
  EXPECT_THAT(site.region.copy(0), Each(16));
  EXPECT_EQ(site.take(0), 10);
  EXPECT_FALSE(site.hands.flies(0, 1));
}

TEST(ExchangeAgent, WithoutANewOfferTheCopyIsWrittenOverByItsOwnAverage) {
  Site site;
  site.fly(0, 1);
  const float* before = site.region.copy(0).data();
  site.merge(0, 1, 10);
  EXPECT_THAT(site.region.copy(0), Each(11));
  EXPECT_EQ(site.region.copy(0).data(), before);  // the second place was never touched
  site.fly(0, 2);
  EXPECT_THAT(site.hands.flying(0, 2), Each(11));
}

TEST(ExchangeAgent, TheNextRoundMayFlyWhileTheLastOneIsMergedPieceByPiece) {
  Site site;
  site.fly(0, 1);
  ASSERT_TRUE(site.hands.begin(0, 1));
  site.piece(0, 10);
  ASSERT_TRUE(site.hands.take_hold(0));
  site.hands.fly(0, 2);
  site.hands.let_go(0);
  EXPECT_EQ(site.hands.flying(0, 2)[0], 11);  // which is merged
  EXPECT_EQ(site.hands.flying(0, 1)[kCount / 2], 1);
  site.piece(kCount / 2, 10);
  site.end(1);
  EXPECT_THAT(site.hands.flying(0, 2), Each(11));
  EXPECT_FALSE(site.hands.flies(0, 1));
  ASSERT_TRUE(site.offer(0, 3));
  EXPECT_THAT(site.hands.flying(0, 2), Each(11));
  EXPECT_THAT(site.region.copy(0), Each(13));  // what is pending is in it
}

TEST(ExchangeAgent, AMergeThatComesAfterTheNextCopyHasLeftChangesNothingInFlight) {
  Site site;
  site.fly(0, 1);
  site.fly(0, 2);  // the same copy again
  site.merge(0, 1, 10);
  EXPECT_THAT(site.hands.flying(0, 2), Each(1));
  EXPECT_THAT(site.region.copy(0), Each(11));
  site.merge(0, 2, 100);
  EXPECT_THAT(site.region.copy(0), Each(111));
  EXPECT_EQ(site.take(0), 110);

  ASSERT_TRUE(site.offer(0, 1));
  site.fly(0, 3);
  ASSERT_TRUE(site.offer(0, 2));
  site.fly(0, 4);                  // another one
  EXPECT_FALSE(site.offer(0, 9));  // both places fly
  site.merge(0, 3, 10);
  EXPECT_THAT(site.hands.flying(0, 4), Each(2));
  EXPECT_THAT(site.region.copy(0), Each(12));
  EXPECT_TRUE(site.offer(0, 9));
  EXPECT_THAT(site.hands.flying(0, 4), Each(2));
}

TEST(ExchangeAgent, WhatCameLateIsAddedAndNothingInFlightChanges) {
  Site site;
  site.fly(0, 1);
  site.merge_late(0, 7);
  EXPECT_THAT(site.hands.flying(0, 1), Each(1));
  EXPECT_THAT(site.region.copy(0), ElementsAre(8, 8, 1, 1));
  EXPECT_THAT(site.region.pending(0), ElementsAre(7, 7, 0, 0));
  site.merge(0, 1, 10);
  EXPECT_THAT(site.region.pending(0), ElementsAre(17, 17, 10, 10));
  EXPECT_THAT(site.region.copy(0), ElementsAre(18, 18, 11, 11));
  EXPECT_EQ(site.region.fragment(0).account.rounds, 2u);
}

// x ← ½x + 10 and x ← ½x + 8 together are x ← ¼x + 13, for the model as for the copy.
TEST(ExchangeAgent, WhatScalesTheModelScalesCopiesAndPendingCorrections) {
  Site site;
  site.fly(0, 1);
  ASSERT_TRUE(site.offer(0, 4));
  site.merge(0, 1, 10, 0.5F);
  EXPECT_THAT(site.region.copy(0), Each(12));
  EXPECT_EQ(site.region.fragment(0).account.scale, 0.5F);
  site.fly(0, 2);
  EXPECT_THAT(site.hands.flying(0, 2), Each(12));
  ASSERT_TRUE(
      site.offer(0, 8));  // the same model, trained further: the correction is still to be taken
  EXPECT_THAT(site.region.copy(0), Each(14));
  site.merge(0, 2, 8, 0.5F);
  EXPECT_THAT(site.region.copy(0), Each(15));
  EXPECT_THAT(site.region.pending(0), Each(13));
  EXPECT_EQ(site.region.fragment(0).account.scale, 0.25F);
  site.merge_late(0, 1);
  EXPECT_THAT(site.region.pending(0), ElementsAre(14, 14, 13, 13));
  EXPECT_EQ(site.region.fragment(0).account.scale, 0.25F);
  EXPECT_EQ(site.take(0), 14);
  site.fly(0, 3);
  site.merge(0, 3, 2);
  EXPECT_EQ(site.region.fragment(0).account.scale, 1);
}

TEST(ExchangeAgent, AsManyRoomsAreUsedAsHoldCorrectionsAtOnce) {
  Site site;
  for (RoundId round = 1; round < 4; ++round)
    for (int f = 0; f < kFragments; ++f) {
      site.fly(f, round);
      site.merge(f, round, float(f));
      EXPECT_EQ(site.region.fragment(f).pending, 0u);
      EXPECT_EQ(site.take(f), float(f));
    }
  for (int f = 0; f < kFragments; ++f) {
    site.fly(f, 4);
    site.merge(f, 4, float(f));
  }
  for (int f = 0; f < kFragments; ++f) EXPECT_EQ(site.take(f), float(f));
}

TEST(ExchangeAgent, WaitsForTrainingCodeAndGivesBackWhatItCannotUse) {
  Site site;
  ASSERT_TRUE(site.region.try_hold(0, ExchangeRegion::Holder::kTraining));
  EXPECT_FALSE(site.hands.take_hold(0));
  site.region.let_go(0);
  site.fly(0, 1);
  ASSERT_TRUE(site.hands.begin(0, 1));
  site.hands.give_up();
  EXPECT_TRUE(site.region.try_hold(0, ExchangeRegion::Holder::kTraining));
  EXPECT_THAT(site.region.copy(0), Each(1));
}

TEST(ExchangeAgent, WhateverTheOtherProcessWritesStaysInBounds) {
  Site site;
  site.fly(0, 1);
  site.region.fragment(0).fresh = 0xffff'ffff;
  site.region.fragment(0).pending = 0xffff'ffff;
  site.region.fragment(0).flying = 0xffff'ffff;
  EXPECT_FALSE(site.offer(0, 2));
  site.merge(0, 1, 1);
  EXPECT_EQ(site.region.pending(0).size(), kCount);
  EXPECT_EQ(site.region.copy(0).size(), kCount);
}

}  // namespace
}  // namespace cotillion
