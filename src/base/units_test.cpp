#include "base/units.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

constexpr BitsPerSecond kHundredGbps{100e9};

TEST(Units, AFrameOf1566BytesAt100GbpsTakes125Point28Nanoseconds) {
  EXPECT_EQ(transfer_time(Bytes{1566}, kHundredGbps).ps, 125'280);
}

TEST(Units, AGigabyteAt20GbpsTakes400Milliseconds) {
  EXPECT_EQ(transfer_time(Bytes{1'000'000'000}, BitsPerSecond{20e9}).ms(), 400);
}

TEST(Units, APaceIsTheInverseOfItsRate) {
  EXPECT_EQ(ps_per_byte(kHundredGbps), 80);
  EXPECT_EQ(rate_of_pace(80), kHundredGbps);
}

TEST(Units, AByteIsEightBits) {
  EXPECT_EQ(bytes_per_second(kHundredGbps), 12.5e9);
}

TEST(Units, ADurationBecomesSecondsWithoutRounding) {
  constexpr Duration kLatency{49'400'000'000};
  EXPECT_EQ(RealDuration(kLatency).ps, 49'400'000'000.0);
  EXPECT_EQ(RealDuration(kLatency).ms(), 49.4);
  EXPECT_EQ(kLatency.ms(), 49.4);
}

TEST(Units, SumsOfDurationsAreExact) {
  // 0.1 + 0.2 is not 0.3 in doubles; a sum of latencies decides what is feasible.
  const Duration sum = Duration{100'000'000} + Duration{200'000'000};
  EXPECT_EQ(sum, Duration{300'000'000});
  EXPECT_EQ(sum - Duration{300'000'000}, Duration{});
}

TEST(Units, SecondsScaleAndDivide) {
  const RealDuration time = RealDuration::from_ps(3e12);
  EXPECT_EQ(time.seconds(), 3);
  EXPECT_EQ((time * 2).seconds(), 6);
  EXPECT_EQ((2 * time).seconds(), 6);
  EXPECT_EQ((time / 3).seconds(), 1);
  EXPECT_EQ(time / RealDuration::from_ps(1e12), 3);
  EXPECT_EQ((time - time + time).seconds(), 3);
}

TEST(Units, BytesAddMultiplyAndDivideAsIntegers) {
  EXPECT_EQ(Bytes{5} + Bytes{2}, Bytes{7});
  EXPECT_EQ(Bytes{5} - Bytes{2}, Bytes{3});
  EXPECT_EQ(3 * Bytes{5}, Bytes{15});
  EXPECT_EQ(Bytes{7} / 2, Bytes{3});
}

TEST(Units, TimesFromAMillisecondUpAreMillisecondsWithOneDecimal) {
  EXPECT_EQ(to_text(Duration{564'700'000'000}), "564.7 ms");
  EXPECT_EQ(to_text(Duration{1'000'000'000}), "1.0 ms");
  EXPECT_EQ(to_text(Duration{12'000'000'000'000}), "12000.0 ms");
  EXPECT_EQ(to_text(Duration{}), "0.0 ms");
  EXPECT_EQ(to_text(RealDuration::from_ps(-2.5e9)), "-2.5 ms");
}

TEST(Units, ShorterTimesTakeTheUnitThatSuitsThem) {
  EXPECT_EQ(to_text(Duration{40'000'000}), "40 µs");
  EXPECT_EQ(to_text(Duration{125'280}), "125.3 ns");
  EXPECT_EQ(to_text(Duration{7}), "7 ps");
}

TEST(Units, SizesHaveUpToFourDigitsAndNoTrailingZeros) {
  EXPECT_EQ(to_text(Bytes{32'000'000'000}), "32 GB");
  EXPECT_EQ(to_text(Bytes{8192}), "8.192 kB");
  EXPECT_EQ(to_text(Bytes{1'500'000}), "1.5 MB");
  EXPECT_EQ(to_text(Bytes{2'000'000'000'000}), "2 TB");
  EXPECT_EQ(to_text(Bytes{999}), "999 B");
  EXPECT_EQ(to_text(Bytes{}), "0 B");
}

TEST(Units, RatesHaveUpToFourDigitsAndNoTrailingZeros) {
  EXPECT_EQ(to_text(BitsPerSecond{100e9 / 7}), "14.29 Gbps");
  EXPECT_EQ(to_text(kHundredGbps), "100 Gbps");
  EXPECT_EQ(to_text(BitsPerSecond{1.6e12}), "1.6 Tbps");
  EXPECT_EQ(to_text(BitsPerSecond{64e3}), "64 kbps");
  EXPECT_EQ(to_text(BitsPerSecond{2.5e6}), "2.5 Mbps");
  EXPECT_EQ(to_text(BitsPerSecond{9}), "9 bps");
}

TEST(Units, BeyondTheLargestUnitDigitsGoOn) {
  EXPECT_EQ(to_text(Bytes{1'234'567'000'000'000}), "1235 TB");
}

}  // namespace
}  // namespace cotillion
