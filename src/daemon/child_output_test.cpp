#include "daemon/child_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>

namespace cotillion {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string output_error(const Result<std::string>& output) {
  return output ? "no error, but: " + *output : output.error().message;
}
Result<std::string> shell(const std::string& script, const ChildLimits& limits = {}) {
  return child_output({"/bin/sh", "-c", script}, limits);
}

TEST(ChildOutput, IsWhatTheProgramPrints) {
  const auto output = child_output({"echo", "one", "two; three $HOME"});
  ASSERT_TRUE(output.has_value()) << output_error(output);
  EXPECT_EQ(*output, "one two; three $HOME\n");
}

TEST(ChildOutput, NothingOfOursIsPassedOn) {
  const auto open = shell("ls /proc/self/fd; cat; echo $LC_ALL; echo $HOME");
  ASSERT_TRUE(open.has_value()) << output_error(open);
  EXPECT_EQ(*open, "0\n1\n2\n3\nC\n\n");  // 3 is where ls reads the folder
}

TEST(ChildOutput, AProgramThatIsNotThereOrFailsIsAnError) {
  EXPECT_EQ(output_error(child_output({"cotillion-no-such-program"})),
            "cotillion-no-such-program is not installed");
  EXPECT_EQ(output_error(child_output({"/etc/passwd"})), "/etc/passwd is not installed");
  EXPECT_EQ(output_error(shell("echo half; exit 3")), "/bin/sh failed");
  EXPECT_EQ(output_error(shell("kill -9 $$")), "/bin/sh failed");
}

TEST(ChildOutput, AProgramThatIsSlowIsEndedWithAllItStarted) {
  const ChildLimits hurried{.time = Duration{50'000'000'000}};
  EXPECT_THAT(output_error(shell("sleep 1000 & sleep 1000", hurried)),
              HasSubstr("was not done within"));
  // It closes its stdout, but stays.
  EXPECT_THAT(output_error(shell("exec >/dev/null; sleep 1000", hurried)),
              HasSubstr("was not done within"));
  // It goes, but leaves somebody who holds its stdout.
  EXPECT_THAT(output_error(shell("sleep 1000 & echo done", hurried)),
              HasSubstr("was not done within"));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child was not reaped";
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildOutput, AProgramThatTalksWithoutEndIsEnded) {
  EXPECT_EQ(output_error(shell("while :; do echo more; done")), "/bin/sh does not stop talking");
  const auto output = shell("printf 12345678", {.bytes = 8});
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(*output, "12345678");
}

}  // namespace
}  // namespace cotillion
