#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace cotillion {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return failure("odd");
  return number / 2;
}

TEST(Result, HoldsTheValueWhenAllWentWell) {
  const Result<int> result = half(8);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(*result, 4);
  EXPECT_EQ(result.value(), 4);
}

TEST(Result, HoldsTheErrorWhenTheWorldSaidNo) {
  const Result<int> result = half(7);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "odd");
}

TEST(Result, EachLayerPutsWhatItAttemptedInFront) {
  const Error error = half(7).error().within("halving 7").within("sharing the cake");
  EXPECT_EQ(error.message, "sharing the cake: halving 7: odd");
}

TEST(Result, ReachesMembersThroughTheArrow) {
  const Result<std::string> result{std::string("text")};
  EXPECT_EQ(result->size(), 4u);
}

TEST(Result, ItsValueCanBeChangedInPlace) {
  Result<std::string> result{std::string("te")};
  *result += "xt";
  result->back() = 'T';
  EXPECT_EQ(*result, "texT");
}

TEST(Result, AValueThatOnlyMovesCanBeMovedOut) {
  Result<std::unique_ptr<int>> result{std::make_unique<int>(5)};
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, AnErrorOfTheSameTypeAsTheValueIsStillAnError) {
  using Text = Expected<std::string, std::string>;
  EXPECT_TRUE(Text{std::string("fine")});
  EXPECT_FALSE(Text{Unexpected{std::string("wrong")}});
}

Result<void> demand_even(int number) {
  if (const auto halved = half(number); !halved) return Unexpected{halved.error()};
  return {};
}

TEST(Result, OfNothingSaysWhetherItWentWell) {
  const Result<void> fine = demand_even(8);
  ASSERT_TRUE(fine);
  EXPECT_TRUE(fine.has_value());
  fine.value();
  const Result<void> refused = demand_even(7);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().within("sharing").message, "sharing: odd");
}

TEST(ResultDeathTest, OfNothingHasEitherAnErrorOrNone) {
  const Result<void> refused = demand_even(7);
  EXPECT_DEATH(refused.value(), "internal error: has_value\\(\\) does not hold");
  const Result<void> fine = demand_even(8);
  EXPECT_DEATH((void)fine.error(), "internal error: !has_value\\(\\) does not hold");
}

TEST(ResultDeathTest, AskingAnErrorForItsValueEndsTheProgram) {
  const Result<int> result = half(7);
  EXPECT_DEATH((void)*result, "internal error: has_value\\(\\) does not hold");
}

TEST(ResultDeathTest, AskingAValueForItsErrorEndsTheProgram) {
  const Result<int> result = half(8);
  EXPECT_DEATH((void)result.error(), "internal error: !has_value\\(\\) does not hold");
}

}  // namespace
}  // namespace cotillion
