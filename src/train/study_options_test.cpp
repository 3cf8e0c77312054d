#include "train/study_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/training_options.hpp"

namespace cotillion {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Why it is refused; empty when it is not.
std::string refusal(std::vector<std::string> more) {
  more.insert(more.end(), {"recipes.json", "-o", "out.jsonl"});
  const auto options = study_options(more);
  return options ? "" : options.error().message;
}

TEST(StudyOptions, AreReadAsTheyAreWritten) {
  const auto read =
      study_options({"a.json", "b.json", "-o", "out.jsonl", "--seeds", "1,2,3", "--seconds",
                     "1000steps", "--split", "alike,by-source", "--budget", "540"});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const StudyOptions& options = *read;
  EXPECT_THAT(options.recipes, ElementsAre("a.json", "b.json"));
  EXPECT_THAT(options.study.seeds, ElementsAre(1, 2, 3));
  EXPECT_THAT(options.splits, ElementsAre(Split::kAlike, Split::kBySource));
  EXPECT_EQ(options.study.steps_long, 1000);
  EXPECT_EQ(options.budget, 540);
}

TEST(StudyOptions, RefuseNumbersThatMeanNothing) {
  EXPECT_EQ(refusal({"--steps", "10"}), "");
  for (const char* seeds : {"-1", "1.5", "", "1,", "010"})
    EXPECT_THAT(refusal({"--steps", "10", "--seeds", seeds}), HasSubstr("--seeds: a seed is a"));
  for (const char* value : {"0", "-3", "nan"}) {
    for (const char* option : {"--seconds", "--rate", "--budget"})
      EXPECT_THAT(refusal({option, value}), HasSubstr("is not a number above 0"))
          << option << value;
    EXPECT_THAT(refusal({"--steps", "1", "--target", value}), HasSubstr("a number above 0"));
    for (const char* option : {"--steps", "--batch", "--windows"})
      EXPECT_THAT(refusal({option, value}), HasSubstr("a whole number")) << option << value;
  }
  EXPECT_THAT(refusal({"--steps", "0.5"}), HasSubstr("--steps: '0.5' is not a whole number"));
  EXPECT_THAT(refusal({"--seconds", "1e12"}), HasSubstr("and up to 1000000000"));
  EXPECT_THAT(refusal({}), HasSubstr("--seconds or --steps"));
  EXPECT_THAT(refusal({"--steps", "1", "--split", "sideways"}), HasSubstr("--split: sideways not"));
  EXPECT_THAT(refusal({"--steps", "1", "--speed", "2"}), HasSubstr("--speed: unknown"));
  // It takes the name that follows for its value.
  EXPECT_THAT(refusal({"--steps"}), HasSubstr("'recipes.json' is not a whole number"));
}

TEST(StudyOptions, AreThoseOfATrainingAndAFewMore) {
  const std::string usage = study_usage();
  for (const TrainingOption& option : training_options())
    EXPECT_THAT(usage, HasSubstr(option.name));
  EXPECT_THAT(usage, HasSubstr("--claims FOLDER"));
}

}  // namespace
}  // namespace cotillion
