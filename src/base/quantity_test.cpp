#include "base/quantity.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>

namespace cotillion {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 53;

std::int64_t ps(std::string_view text) {
  const auto time = parse_duration(text);
  return time ? time->ps : -1;
}

std::int64_t count(std::string_view text) {
  const auto bytes = parse_bytes(text);
  return bytes ? bytes->count : -1;
}

double bits(std::string_view text) {
  const auto rate = parse_rate(text);
  return rate ? rate->value : -1;
}

// What a refused time is told: the message and the remedy, as a user reads them.
std::string refusal(std::string_view text) {
  const auto time = parse_duration(text);
  return time ? "accepted" : time.error().message + "; " + time.error().remedy;
}

TEST(Quantity, DecimalsAreExact) {
  EXPECT_EQ(ps("49.4ms"), 49'400'000'000);
  EXPECT_EQ(ps("0.1s"), 100'000'000'000);
  EXPECT_EQ(ps("125.28ns"), 125'280);
  EXPECT_EQ(count("0.001kB"), 1);
  EXPECT_EQ(bits("14.29Gbps"), 14'290'000'000.0);
}

TEST(Quantity, EveryUnitOfTime) {
  EXPECT_EQ(ps("7ps"), 7);
  EXPECT_EQ(ps("7ns"), 7'000);
  EXPECT_EQ(ps("7us"), 7'000'000);
  EXPECT_EQ(ps("7µs"), 7'000'000);
  EXPECT_EQ(ps("7ms"), 7'000'000'000);
  EXPECT_EQ(ps("7s"), 7'000'000'000'000);
}

TEST(Quantity, EveryUnitOfSize) {
  EXPECT_EQ(count("3B"), 3);
  EXPECT_EQ(count("3kB"), 3'000);
  EXPECT_EQ(count("3KB"), 3'000);
  EXPECT_EQ(count("3MB"), 3'000'000);
  EXPECT_EQ(count("3GB"), 3'000'000'000);
  EXPECT_EQ(count("3TB"), 3'000'000'000'000);
  EXPECT_EQ(count("3KiB"), 3'072);
  EXPECT_EQ(count("3MiB"), 3'145'728);
  EXPECT_EQ(count("3GiB"), 3'221'225'472);
  EXPECT_EQ(count("3TiB"), 3'298'534'883'328);
}

TEST(Quantity, EveryUnitOfRate) {
  EXPECT_EQ(bits("5bps"), 5);
  EXPECT_EQ(bits("5kbps"), 5e3);
  EXPECT_EQ(bits("5Mbps"), 5e6);
  EXPECT_EQ(bits("5Gbps"), 5e9);
  EXPECT_EQ(bits("5Tbps"), 5e12);
}

TEST(Quantity, SpacesAroundAndBeforeTheUnitAreAllowed) {
  EXPECT_EQ(ps(" 49.4 ms "), 49'400'000'000);
}

TEST(Quantity, SloppyNumbersAreRefused) {
  for (const char* text : {"1.ms", "1._5ms", "1_000ms", ".5ms", "1e3ms", "+1ms"})
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
}

TEST(Quantity, ZeroIsForTheCallerToJudge) {
  EXPECT_EQ(ps("0ms"), 0);
  EXPECT_EQ(count("0B"), 0);
  EXPECT_EQ(bits("0bps"), 0);
}

TEST(Quantity, ABareNumberIsToldItsUnits) {
  EXPECT_EQ(refusal("49.4"),
            "time \"49.4\" has no unit; "
            "write for example \"49.4ms\" (units: ps, ns, us, µs, ms, s)");
  const auto size = parse_bytes("32");
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().message, "size \"32\" has no unit");
  EXPECT_EQ(size.error().remedy,
            "write for example \"32GB\" (units: B, kB, KB, MB, GB, TB, KiB, MiB, GiB, TiB)");
  const auto rate = parse_rate("100");
  ASSERT_FALSE(rate);
  EXPECT_EQ(rate.error().remedy,
            "write for example \"100Gbps\" (units: bps, kbps, Mbps, Gbps, Tbps)");
}

TEST(Quantity, AnEmptyTextIsRefusedWithAnExample) {
  EXPECT_EQ(refusal(""), "empty time; write for example \"49.4ms\"");
  EXPECT_EQ(refusal("   "), "empty time; write for example \"49.4ms\"");
}

TEST(Quantity, ANegativeValueIsRefused) {
  EXPECT_EQ(refusal("-1ms"),
            "negative time \"-1ms\"; a time cannot be below zero; write for example \"49.4ms\"");
}

TEST(Quantity, TextThatDoesNotBeginWithADigitIsNoQuantity) {
  EXPECT_EQ(refusal("soon"), "\"soon\" is not a time; write for example \"49.4ms\"");
  EXPECT_EQ(refusal("+1ms"), "\"+1ms\" is not a time; write for example \"49.4ms\"");
  EXPECT_EQ(refusal(".5ms"), "\".5ms\" is not a time; write for example \"49.4ms\"");
}

TEST(Quantity, AnUnknownUnitIsToldTheKnownOnes) {
  EXPECT_EQ(refusal("5 min"),
            "\"5 min\" has the unknown unit \"min\"; "
            "a time is in ps, ns, us, µs, ms, s; upper and lower case matter");
  EXPECT_EQ(refusal("1e3ms"),
            "\"1e3ms\" has the unknown unit \"e3ms\"; "
            "a time is in ps, ns, us, µs, ms, s; upper and lower case matter");
}

TEST(Quantity, BitsAndBytesAreNotConfused) {
  EXPECT_FALSE(parse_bytes("1Gb"));
  EXPECT_FALSE(parse_bytes("1gb"));
  EXPECT_FALSE(parse_rate("1GBps"));
  EXPECT_FALSE(parse_rate("1mbps"));
}

TEST(Quantity, WhatCannotBeRepresentedIsRefusedRatherThanRounded) {
  EXPECT_EQ(refusal("0.5ps"),
            "\"0.5ps\" is finer than a picosecond; "
            "leave out the digits that cannot be represented");
  EXPECT_EQ(parse_bytes("1.5B").error().message, "\"1.5B\" is finer than a byte");
  EXPECT_EQ(parse_rate("0.1bps").error().message, "\"0.1bps\" is finer than a bit per second");
  EXPECT_EQ(count("1.0B"), 1);
}

TEST(Quantity, MoreDigitsThanFitAreRefused) {
  EXPECT_EQ(refusal("10000000000000000000000ps"),
            "\"10000000000000000000000ps\" has more digits than any time needs; "
            "write for example \"49.4ms\"");
}

TEST(Quantity, TheLargestValueIsTheLargestIntegerThatADoubleHoldsExactly) {
  EXPECT_EQ(ps(fmt::format("{}ps", kLargest)), kLargest);
  EXPECT_EQ(refusal(fmt::format("{}ps", kLargest + 1)),
            "\"9007199254740993ps\" is larger than Cotillion can compute with; "
            "check the unit; write for example \"49.4ms\"");
}

TEST(Quantity, ControlBytesDoNotReachAMessage) {
  EXPECT_EQ(refusal("a\x1b[2J\n"), "\"a?[2J?\" is not a time; write for example \"49.4ms\"");
}

TEST(Quantity, LongTextIsCutInAMessage) {
  EXPECT_EQ(refusal(std::string(1000, 'x')), "\"" + std::string(60, 'x') +
                                                 "…\" is not a time; "
                                                 "write for example \"49.4ms\"");
}

RC_GTEST_PROP(Quantity, AnyTimeWrittenAsDecimalMillisecondsIsReadBackExactly, ()) {
  const auto time = *rc::gen::inRange<std::int64_t>(0, kLargest + 1);
  const std::string text = fmt::format("{}.{:09}ms", time / 1'000'000'000, time % 1'000'000'000);
  const auto read = parse_duration(text);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->ps == time);
}

RC_GTEST_PROP(Quantity, AnyBytesAtAllAreReadOrRefusedWithARemedy, (const std::string& text)) {
  const auto time = parse_duration(text);
  if (!time) RC_ASSERT(!time.error().message.empty() && !time.error().remedy.empty());
  if (time) RC_ASSERT(time->ps >= 0 && time->ps <= kLargest);
}

}  // namespace
}  // namespace cotillion
