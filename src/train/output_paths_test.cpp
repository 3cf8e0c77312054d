#include "train/output_paths.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

TEST(OwnPlaces, NothingThatIsReadIsWrittenOver) {
  EXPECT_EQ(why_not_apart({{"-o", "a"}}, {{"PLAN", "b"}, {"--faults", ""}}), "");
  EXPECT_EQ(why_not_apart({{"-o", "a"}}, {{"PLAN", "./a"}}),
            "-o a: that place is PLAN's in this command; choose another");
  EXPECT_EQ(why_not_apart({{"-o", "x/../a"}}, {{"PLAN", "a"}}).substr(0, 10), "-o x/../a:");
}

TEST(OwnPlaces, NothingIsWrittenTwice) {
  EXPECT_EQ(why_not_apart({{"--checkpoint", "a"}, {"-o", "./a"}}, {}),
            "-o ./a: that place is --checkpoint's in this command; choose another");
  EXPECT_EQ(why_not_apart({{"--checkpoint", ""}, {"-o", ""}}, {}), "");
}

TEST(OwnPlaces, WhatBeginsAsACheckpointDoesIsTheCheckpoints) {
  EXPECT_NE(why_not_apart({{"--checkpoint", "c"}, {"-o", "c.models"}}, {}), "");
  EXPECT_NE(why_not_apart({{"--checkpoint", "c"}}, {{"--from", "c.1"}}), "");
  EXPECT_EQ(why_not_apart({{"--checkpoint", "c"}, {"-o", "c-models"}}, {}), "");
}

}  // namespace
}  // namespace cotillion
