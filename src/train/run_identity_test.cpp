#include "train/run_identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cotillion {
namespace {

using ::testing::HasSubstr;

Training some_run() {
  Training run;
  run.recipe.name = "triangles, whole";
  run.recipe.policy = "plan";
  run.recipe.islands = {"A", "B"};
  run.recipe.shares = {0.5, 0.5};
  run.account.cycle = 1.6;
  run.model = "mlp";
  run.data = "synthetic:2MB, alike";
  run.settings.steps = 20'000;
  return run;
}

TEST(SameRun, IsTheSameThoughItsNumbersWereShortened) {
  Training shortened = some_run();
  shortened.recipe.step_time = 0.16900001;
  shortened.account.cycle = 1.60001;
  EXPECT_EQ(what_differs(shortened, some_run()), "");
}

TEST(SameRun, WholeNumbersAreTheSameOrNot) {
  Training other = some_run();
  other.settings.steps = 20'001;
  EXPECT_EQ(what_differs(some_run(), other), "it has so many steps: 20000, and this run 20001");
}

TEST(SameRun, AnotherNetworkIsAnotherRunAndAnotherRow) {
  Training other = some_run();
  other.account.cycle = 32.3;
  EXPECT_THAT(what_differs(some_run(), other), HasSubstr("rounds or cycles of, in seconds, 1.6"));
  EXPECT_NE(what_differs_in_policy(some_run(), other), "");
  EXPECT_EQ(what_differs_in_setting(some_run(), other), "");
  other.account.cycle = 0;  // a record that does not say
  EXPECT_EQ(what_differs(some_run(), other), "");
}

TEST(SameRun, WhatIsDrawnMattersWhereAnythingIs) {
  Training one = some_run(), other = some_run();
  other.recipe.seed = 3;
  EXPECT_EQ(what_differs(one, other), "");
  rotation_of(one.recipe).lost = rotation_of(other.recipe).lost = 0.01;
  EXPECT_THAT(what_differs(one, other), HasSubstr("draws of seed 1"));
}

}  // namespace
}  // namespace cotillion
