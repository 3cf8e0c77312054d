#include "lab/rival.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

std::string refusal(const std::string& command) {
  const auto there = check_rivals({command});
  return there ? "" : there.error().message;
}

TEST(Rival, IsLookedForBeforeAnythingIsPlayed) {
  EXPECT_EQ(refusal("sh"), "");
  EXPECT_EQ(refusal("Shell, mine: sh -c 'echo ms 1'"), "");
  EXPECT_EQ(refusal("/bin/sh -c true"), "");
  EXPECT_EQ(refusal("no-such-program ring"),
            "no-such-program: not found; install it, or give its path");
  EXPECT_EQ(refusal("Nobody: /no/such/program"),
            "/no/such/program: not found; install it, or give its path");
  EXPECT_EQ(refusal("/tmp ring"), "/tmp: cannot be started; give a program that can be executed");
  EXPECT_FALSE(check_rivals({"sh", "no-such-program"}).has_value());
  EXPECT_TRUE(check_rivals({}).has_value());
}

TEST(Rival, WhatOnlyTheShellCanTellIsLeftToIt) {
  for (const char* command : {"\"$HOME\"/no-such-program", "~/no-such-program",
                              ">log no-such-program", "'no such program'", "Nothing: ",
                              "cd /tmp && sh", "exec sh", "A=1 sh -c true", "if true; then sh; fi"})
    EXPECT_EQ(refusal(command), "") << command;
}

}  // namespace
}  // namespace cotillion
