// Which numbers are asked for, and when. Times are in picoseconds and small: only order matters.
#include "protocol/gap_tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.hpp"

namespace cotillion {
namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr GapSettings kUsual{.window = 64, .hold = {0}, .round_trip = {100}, .requests_max = 4};

Numbers asked(GapTracker& gaps, std::int64_t now) {
  Numbers numbers;
  gaps.due({now}, [&](std::uint32_t number) { numbers.push_back(number); });
  return numbers;
}

TEST(GapTracker, AStreamInOrderMissesNothing) {
  GapTracker gaps(kUsual);
  for (std::uint32_t n = 0; n < 1000; ++n) gaps.arrive({n}, n);
  EXPECT_EQ(gaps.missing(), 0u);
  EXPECT_EQ(gaps.next(), 1000u);
  EXPECT_EQ(gaps.next_deadline(), kNever);
  EXPECT_EQ(asked(gaps, 5000), Numbers{});
}

TEST(GapTracker, AGapIsAskedForAtOnce) {
  GapTracker gaps(kUsual);
  gaps.arrive({10}, 0);
  gaps.arrive({20}, 3);
  EXPECT_EQ(gaps.missing(), 2u);
  EXPECT_EQ(gaps.next_deadline(), Instant{20});
  EXPECT_EQ(asked(gaps, 20), (Numbers{1, 2}));
}

TEST(GapTracker, AGapIsNotAskedForWhileReorderingMaySettle) {
  GapSettings settings = kUsual;
  settings.hold = {30};
  GapTracker gaps(settings);
  gaps.arrive({20}, 2);
  EXPECT_EQ(gaps.next_deadline(), Instant{50});
  EXPECT_EQ(asked(gaps, 49), Numbers{});
  gaps.arrive({49}, 0);  // only late
  EXPECT_EQ(asked(gaps, 50), Numbers{1});
}

TEST(GapTracker, WaitsDoubleAndThenThereIsSilence) {
  GapTracker gaps(kUsual);
  gaps.arrive({0}, 1);
  Numbers when;
  for (std::int64_t now = 0; now < 10'000; ++now)
    if (!asked(gaps, now).empty()) when.push_back(std::uint32_t(now));
  EXPECT_EQ(when, (Numbers{0, 100, 300, 700}));
  EXPECT_EQ(gaps.next_deadline(), kNever);
  EXPECT_EQ(gaps.missing(), 1u);  // it may come all the same
  gaps.arrive({10'000}, 0);
  EXPECT_EQ(gaps.missing(), 0u);
}

TEST(GapTracker, AWaitCountsFromTheRequestAndNotFromWhenItWasDue) {
  GapTracker gaps(kUsual);
  gaps.arrive({0}, 1);
  EXPECT_EQ(asked(gaps, 70), Numbers{0});
  EXPECT_EQ(gaps.next_deadline(), Instant{170});
  EXPECT_EQ(asked(gaps, 170), Numbers{0});
  EXPECT_EQ(gaps.next_deadline(), Instant{370});
}

TEST(GapTracker, ALongAbsenceOfTheHostCostsOneRequestAndNotAll) {
  GapTracker gaps(kUsual);
  gaps.arrive({0}, 1);
  EXPECT_EQ(asked(gaps, 1'000'000), Numbers{0});
}

TEST(GapTracker, ALostTailIsSeenWhenTheSourceSaysHowFarItHasCome) {
  GapTracker gaps(kUsual);
  gaps.arrive({0}, 0);
  gaps.expect({5}, 4);
  EXPECT_EQ(asked(gaps, 5), (Numbers{1, 2, 3}));
  gaps.expect({6}, 4);  // said again
  gaps.expect({6}, 2);  // and by an older announcement
  EXPECT_EQ(gaps.missing(), 3u);
  EXPECT_EQ(gaps.next(), 4u);
}

TEST(GapTracker, DuplicatesAndOldNumbersChangeNothing) {
  GapTracker gaps(kUsual);
  gaps.reset(100);
  gaps.arrive({0}, 101);
  for (const std::uint32_t old : {101u, 101u, 99u, 37u, 0u}) gaps.arrive({0}, old);
  EXPECT_EQ(gaps.missing(), 1u);
  EXPECT_EQ(gaps.next(), 102u);
  gaps.arrive({0}, 36);  // shares the entry of 100, which stays missing
  EXPECT_EQ(asked(gaps, 0), Numbers{100});
  gaps.arrive({0}, 100);
  gaps.arrive({0}, 100);
  EXPECT_EQ(gaps.missing(), 0u);
  EXPECT_EQ(gaps.given_up(), 0u);
}

TEST(GapTracker, NumbersGoOnBeyondTwoToTheThirtyTwo) {
  GapTracker gaps(kUsual);
  gaps.reset(0xfffffffe);
  gaps.arrive({0}, 0xfffffffe);
  gaps.arrive({0}, 2);
  EXPECT_EQ(asked(gaps, 0), (Numbers{0xffffffff, 0, 1}));
  gaps.arrive({1}, 0xffffffff);
  gaps.give_up_below(1);
  EXPECT_EQ(gaps.missing(), 1u);
  EXPECT_EQ(gaps.given_up(), 1u);
  EXPECT_EQ(asked(gaps, 100), Numbers{1});
}

TEST(GapTracker, WhatFallsOutOfTheWindowIsGivenUpAndCounted) {
  GapTracker gaps(kUsual);
  gaps.arrive({0}, 1);  // 0 is missing
  for (std::uint32_t n = 2; n < 64; ++n) gaps.arrive({0}, n);
  EXPECT_EQ(gaps.given_up(), 0u);
  gaps.arrive({0}, 64);
  EXPECT_EQ(gaps.given_up(), 1u);
  EXPECT_EQ(gaps.missing(), 0u);
}

TEST(GapTracker, AJumpBeyondTheWindowLeavesTheWindowMissing) {
  GapTracker gaps(kUsual);
  gaps.expect({0}, 1000);
  EXPECT_EQ(gaps.missing(), 64u);
  EXPECT_EQ(gaps.given_up(), 936u);
  EXPECT_EQ(asked(gaps, 0).front(), 936u);
  gaps.arrive({0}, 2000);  // 63 of the new window are before it
  EXPECT_EQ(gaps.missing(), 63u);
  EXPECT_EQ(gaps.given_up() + gaps.missing(), 2000u);
}

TEST(GapTracker, AWindowIsTakenUpToAPowerOfTwo) {
  GapSettings settings = kUsual;
  settings.window = 33;
  GapTracker gaps(settings);
  gaps.expect({0}, 1000);
  EXPECT_EQ(gaps.missing(), 64u);
  EXPECT_EQ(GapTracker::bytes(settings), GapTracker::bytes(kUsual));
}

TEST(GapTracker, WhatIsGoneIsNotAskedForAgain) {
  GapTracker gaps(kUsual);
  gaps.expect({0}, 3);
  EXPECT_EQ(asked(gaps, 0).size(), 3u);
  gaps.give_up(1);
  gaps.give_up(1);
  gaps.give_up(700);  // of which nobody has heard
  EXPECT_EQ(gaps.given_up(), 1u);
  EXPECT_EQ(asked(gaps, 100), (Numbers{0, 2}));
}

TEST(GapTracker, GivingUpBelowANumberSkipsWhatWasNeverHeardOf) {
  GapTracker gaps(kUsual);
  gaps.expect({0}, 5);
  gaps.give_up_below(3);
  EXPECT_EQ(gaps.missing(), 2u);
  EXPECT_EQ(asked(gaps, 0), (Numbers{3, 4}));
  gaps.give_up_below(20);
  EXPECT_EQ(gaps.missing(), 0u);
  EXPECT_EQ(gaps.given_up(), 5u);
  EXPECT_EQ(gaps.next(), 20u);
  gaps.arrive({1}, 21);
  EXPECT_EQ(asked(gaps, 1), Numbers{20});
}

TEST(GapTracker, AResetForgetsEverything) {
  GapTracker gaps(kUsual);
  gaps.expect({0}, 40);
  gaps.reset(7);
  EXPECT_EQ(gaps.missing(), 0u);
  EXPECT_EQ(gaps.next(), 7u);
  EXPECT_EQ(gaps.next_deadline(), kNever);
  gaps.arrive({0}, 8);
  EXPECT_EQ(asked(gaps, 0), Numbers{7});
}

TEST(GapTracker, WaitsAsLongAsAnswersTake) {
  GapTracker gaps(kUsual);  // a round trip of 100
  gaps.expect({0}, 3);
  EXPECT_EQ(asked(gaps, 0), (Numbers{0, 1, 2}));
  gaps.answer({80}, 0);
  gaps.answer({90}, 1);
  EXPECT_EQ(gaps.next_deadline(), Instant{81 + 4 * 33});  // RFC 6298, in whole numbers
}

TEST(GapTracker, AnAnswerThatIsOvertakenByALaterOneIsLost) {
  GapTracker gaps(kUsual);
  gaps.expect({0}, 1);
  EXPECT_EQ(asked(gaps, 0), Numbers{0});
  gaps.expect({10}, 2);
  EXPECT_EQ(asked(gaps, 10), Numbers{1});
  EXPECT_EQ(asked(gaps, 50), Numbers{});
  gaps.answer({60}, 1);
  EXPECT_EQ(asked(gaps, 60), Numbers{0});
}

TEST(GapTracker, WhatOnlyCameOutOfOrderIsNoAnswer) {
  GapTracker gaps(kUsual);
  gaps.expect({0}, 1);
  EXPECT_EQ(asked(gaps, 0), Numbers{0});
  gaps.expect({10}, 2);
  EXPECT_EQ(asked(gaps, 10), Numbers{1});
  gaps.arrive({60}, 1);
  EXPECT_EQ(asked(gaps, 60), Numbers{});
  EXPECT_EQ(gaps.next_deadline(), Instant{100});  // a round trip, as before
}

// The same contract in the plainest words: a map from missing numbers to their next request.
class Model {
 public:
  explicit Model(const GapSettings& settings, std::uint64_t start)
      : settings_(settings), upcoming_(start) {}

  void expect(std::int64_t now, std::uint64_t next) {
    for (; upcoming_ < next; ++upcoming_) missing_[upcoming_] = {now, 0};
    while (!missing_.empty() && missing_.begin()->first + settings_.window < upcoming_)
      give_up(missing_.begin()->first);
  }
  void arrive(std::int64_t now, std::uint64_t number) {
    if (number >= upcoming_) expect(now, number + 1);
    missing_.erase(number);
  }
  void answer(std::int64_t now, std::uint64_t number) {
    if (const auto gap = missing_.find(number);
        gap != missing_.end() && gap->second.requests == 1) {
      learn(now - gap->second.since);
      answered_ = std::max(answered_, gap->second.since);
    }
    arrive(now, number);
  }
  void give_up(std::uint64_t number) { given_up += missing_.erase(number); }
  void give_up_below(std::uint64_t number) {
    while (!missing_.empty() && missing_.begin()->first < number) give_up(missing_.begin()->first);
    upcoming_ = std::max(upcoming_, number);
  }
  [[nodiscard]] Instant next_deadline() const {
    Instant soonest = kNever;
    for (const auto& [number, gap] : missing_)
      if (gap.requests < settings_.requests_max) soonest = std::min(soonest, Instant{due_at(gap)});
    return soonest;
  }
  Numbers due(std::int64_t now) {
    Numbers numbers;
    for (auto& [number, gap] : missing_) {
      if (gap.requests == settings_.requests_max || due_at(gap) > now) continue;
      numbers.push_back(std::uint32_t(number));
      gap.since = now;
      ++gap.requests;
    }
    return numbers;
  }
  [[nodiscard]] std::size_t missing() const { return missing_.size(); }
  [[nodiscard]] std::uint64_t upcoming() const { return upcoming_; }
  std::uint64_t given_up = 0;

 private:
  struct Gap {
    std::int64_t since;
    int requests;
  };
  [[nodiscard]] std::int64_t due_at(const Gap& gap) const {
    const std::int64_t held = gap.since + settings_.hold.ps;
    if (gap.requests == 0 || held < answered_) return held;
    return gap.since +
           (std::max(settings_.round_trip.ps, mean_ + 4 * deviation_) << (gap.requests - 1));
  }
  void learn(std::int64_t answer) {
    const std::int64_t off = answer - mean_;
    deviation_ = mean_ == 0 ? answer / 2 : deviation_ + (std::abs(off) - deviation_) / 4;
    mean_ = mean_ == 0 ? answer : mean_ + off / 8;
  }
  std::int64_t mean_ = 0, deviation_ = 0, answered_ = 0;
  GapSettings settings_;
  std::uint64_t upcoming_;
  std::map<std::uint64_t, Gap> missing_;
};

TEST(GapTracker, DoesWhatAMapOfGapsWouldDo) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    GapSettings settings;
    settings.window = 1u << random.between(0, 6);
    settings.hold = {random.between(0, 1) * random.between(0, 50)};
    settings.round_trip = {random.between(1, 100)};
    settings.requests_max = int(random.between(1, 6));
    // Across 2³²: the model counts on, the tracker wraps.
    const std::uint64_t start = (std::uint64_t(1) << 32u) - std::uint64_t(random.between(0, 200));
    GapTracker gaps(settings);
    gaps.reset(std::uint32_t(start));
    Model model(settings, start);
    std::int64_t now = 0;
    for (int step = 0; step < 400; ++step) {
      now += random.between(0, 20);
      const std::uint64_t number =
          std::max(start, model.upcoming() - std::min<std::uint64_t>(model.upcoming(), 80)) +
          std::uint64_t(random.between(0, 90));
      const auto wire = std::uint32_t(number);
      switch (random.between(0, 7)) {
        case 0:
          gaps.expect({now}, wire);
          model.expect(now, number);
          break;
        case 1:
          gaps.give_up(wire);
          model.give_up(number);
          break;
        case 2:
          gaps.give_up_below(wire);
          model.give_up_below(number);
          break;
        case 3:
        case 4:
          gaps.answer({now}, wire);
          model.answer(now, number);
          break;
        default:
          gaps.arrive({now}, wire);
          model.arrive(now, number);
      }
      ASSERT_EQ(gaps.next_deadline(), model.next_deadline()) << "seed " << seed;
      if (random.between(0, 2) == 0) {
        Numbers ours = asked(gaps, now);
        Numbers plain = model.due(now);
        std::sort(ours.begin(), ours.end());
        std::sort(plain.begin(), plain.end());
        ASSERT_EQ(ours, plain) << "seed " << seed;
        ASSERT_GT(gaps.next_deadline(), Instant{now}) << "seed " << seed;
      }
      ASSERT_EQ(gaps.missing(), model.missing()) << "seed " << seed << " step " << step;
      ASSERT_EQ(gaps.given_up(), model.given_up) << "seed " << seed << " step " << step;
      ASSERT_EQ(gaps.next(), std::uint32_t(model.upcoming())) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace cotillion
