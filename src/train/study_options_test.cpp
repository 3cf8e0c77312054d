#include "train/study_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cotillion {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Why it is refused; empty when it is not.
std::string refusal(std::vector<std::string> more) {
  more.insert(more.end(), {"recipes.json", "-o", "out.jsonl"});
  try {
    (void)study_options(more);
  } catch (const WrongUse& wrong) {
    return wrong.what();
  }
  return {};
}

TEST(StudyOptions, AreReadAsTheyAreWritten) {
  const StudyOptions options =
      study_options({"a.json", "b.json", "-o", "out.jsonl", "--seeds", "1,2,3", "--seconds",
                     "1000steps", "--split", "alike,by-source", "--budget", "540"});
  EXPECT_THAT(options.recipes, ElementsAre("a.json", "b.json"));
  EXPECT_THAT(options.study.seeds, ElementsAre(1, 2, 3));
  EXPECT_THAT(options.splits, ElementsAre(Split::kAlike, Split::kBySource));
  EXPECT_EQ(options.steps_long, 1000);
  EXPECT_EQ(options.budget, 540);
}

TEST(StudyOptions, RefuseNumbersThatMeanNothing) {
  EXPECT_EQ(refusal({"--steps", "10"}), "");
  EXPECT_THAT(refusal({"--steps", "10", "--seeds", "-1"}), HasSubstr("--seeds -1: whole numbers"));
  EXPECT_THAT(refusal({"--steps", "10", "--seeds", "1.5"}), HasSubstr("whole numbers"));
  EXPECT_THAT(refusal({"--steps", "10", "--seeds", ""}), HasSubstr("at least one"));
  for (const char* value : {"0", "-3", "nan"}) {
    for (const char* option : {"--seconds", "--rate", "--budget"})
      EXPECT_THAT(refusal({option, value}), HasSubstr("must be more than 0")) << option << value;
    EXPECT_THAT(refusal({"--steps", "1", "--target", value}), HasSubstr("must be more than 0"));
    for (const char* option : {"--steps", "--batch", "--windows"})
      EXPECT_THAT(refusal({option, value}), HasSubstr("a whole number")) << option << value;
  }
  EXPECT_THAT(refusal({"--steps", "0.5"}), HasSubstr("--steps 0.5: a whole number"));
  EXPECT_THAT(refusal({"--seconds", "1e12"}), HasSubstr("a billion at most"));
  EXPECT_THAT(refusal({}), HasSubstr("--seconds or --steps"));
}

}  // namespace
}  // namespace cotillion
