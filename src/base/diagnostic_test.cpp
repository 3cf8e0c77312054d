#include "base/diagnostic.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

TEST(Diagnostic, ReadsAsPlaceFieldMessageAndRemedy) {
  const Diagnostic diagnostic{"map.toml",
                              {12, 3},
                              "links[3].latency",
                              "negative time \"-1ms\"",
                              "a time cannot be below zero"};
  EXPECT_EQ(to_text(diagnostic),
            "map.toml:12:3: links[3].latency: negative time \"-1ms\"; "
            "a time cannot be below zero");
}

TEST(Diagnostic, AMistakeOfTheWholeFileHasNoLine) {
  EXPECT_EQ(to_text(Diagnostic{"map.toml", {}, "", "the file holds NUL bytes", "give text"}),
            "map.toml: the file holds NUL bytes; give text");
}

TEST(Diagnostic, FieldAndRemedyMayBeAbsent) {
  EXPECT_EQ(to_text(Diagnostic{"map.toml", {1, 1}, "", "wrong", ""}), "map.toml:1:1: wrong");
}

}  // namespace
}  // namespace cotillion
