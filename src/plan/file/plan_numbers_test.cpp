#include "plan/file/plan_numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/random.hpp"
#include "tests/support/base/sanitized.hpp"
#include "topology/toml_fields.hpp"

namespace cotillion {
namespace {

// Written as a field in milliseconds, dumped, parsed and read again.
double there_and_back(double value) {
  Json object = {{"offset_ms", value / 1e9}};
  note_exact(object, {{"offset_ms", value}});
  const Json again = Json::parse(object.dump());
  Problems problems("");
  return read_billionth(PlanField(again, problems), "offset_ms").value_or(-1);
}

std::string refusal_of(const std::string& json) {
  Problems problems("p");
  const Json object = Json::parse(json);
  const auto value = read_billionth(PlanField(object, problems), "offset_ms");
  EXPECT_EQ(value.has_value(), problems.empty());
  return problems.empty() ? "" : to_text(problems.take().front());
}

TEST(PlanNumbers, EveryDoubleComesBackBitForBit) {
  Random random(1);
  int in_full = 0;
  constexpr int kTrials = testing::kSanitized ? 40'000 : 200'000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double mantissa = 1 + double(random.between(0, (std::int64_t{1} << 52) - 1)) / 0x1p52;
    const double value = std::ldexp(mantissa, int(random.between(-300, 900)));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(there_and_back(value)),
              std::bit_cast<std::uint64_t>(value))
        << value;
    Json object;
    note_exact(object, {{"x", value}});
    in_full += object.contains("exact") ? 1 : 0;
  }
  // The essay at the head of plan_numbers.hpp says one in sixteen.
  EXPECT_NEAR(double(in_full) / kTrials, 1.0 / 16, 0.005);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(there_and_back(-0.0)), std::bit_cast<std::uint64_t>(-0.0));
}

TEST(PlanNumbers, WholeNumbersNeedNothingElse) {
  Random random(2);
  for (int trial = 0; trial < 200'000; ++trial) {
    const auto whole =
        double(random.between(0, (std::int64_t{1} << 52) - 1) >> random.between(0, 50));
    Json object;
    note_exact(object, {{"x", whole}});
    ASSERT_TRUE(object.is_null()) << whole;
    ASSERT_EQ(from_billionth(whole / 1e9), whole);
  }
}

TEST(PlanNumbers, WhatContradictsTheFieldIsRefused) {
  EXPECT_EQ(refusal_of(R"({"offset_ms": 1.5})"), "");
  EXPECT_EQ(refusal_of(R"({"offset_ms": 1.5, "exact": {"offset_ms": 1500000000}})"), "");
  EXPECT_EQ(
      refusal_of(R"({"offset_ms": 1.5, "exact": {"offset_ms": 1500000001}})"),
      "p: exact.offset_ms: not 10⁹ times the offset_ms of 1.5; correct one of the two, or leave "
      "this one out");
  EXPECT_THAT(refusal_of(R"({"offset_ms": -1})"), ::testing::HasSubstr("-1 is not between 0 and"));
  EXPECT_THAT(refusal_of(R"({"offset_ms": 1e300})"), ::testing::HasSubstr("is not between"));
  EXPECT_THAT(refusal_of(R"({"offset_ms": "1ms"})"), ::testing::HasSubstr("not a number"));
  EXPECT_THAT(refusal_of(R"({"offset_ms": null})"), ::testing::HasSubstr("not a number"));
  EXPECT_THAT(refusal_of(R"({})"), ::testing::HasSubstr("offset_ms: missing"));
  EXPECT_THAT(refusal_of(R"({"offset_ms": 1.5, "exact": 1500000000})"),
              ::testing::HasSubstr("exact: not an object"));
  EXPECT_THAT(refusal_of(R"({"offset_ms": 1.5, "exact": {"offset_ms": true}})"),
              ::testing::HasSubstr("exact.offset_ms: not a number"));
}

TEST(PlanNumbers, LatenciesAreWholePicoseconds) {
  Problems problems("p");
  const Json object = Json::parse(R"({"a": 0.000000001, "b": 0.0000000015, "c": 1000.1})");
  const PlanField field(object, problems);
  EXPECT_EQ(read_latency(field, "a", Duration{1'000'000'000'000}), Duration{1});
  EXPECT_TRUE(problems.empty());
  EXPECT_FALSE(read_latency(field, "b", Duration{1'000'000'000'000}));
  EXPECT_FALSE(read_latency(field, "c", Duration{1'000'000'000'000}));
}

}  // namespace
}  // namespace cotillion
