#include "base/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace cotillion {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::StartsWith;

class File : public ::testing::Test {
 protected:
  File() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~File() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::size_t count() const {
    return std::size_t(std::distance(fs::directory_iterator(folder_), {}));
  }

 private:
  const fs::path folder_ =
      fs::path(::testing::TempDir()) / ("cotillion-file-" + std::to_string(::getpid()));
};

TEST_F(File, WhatIsWrittenIsReadBack) {
  const std::string text = std::string("a\0b\n", 4) + std::string(200'000, 'x');
  ASSERT_TRUE(write_atomically(at("a"), text));
  EXPECT_EQ(read_file(at("a")).value(), text);
  ASSERT_TRUE(write_atomically(at("a"), ""));
  EXPECT_EQ(read_file(at("a")).value(), "");
  EXPECT_EQ(count(), 1u) << "nothing is left beside it";
}

TEST_F(File, ThatCannotBeReadSaysWhy) {
  const auto nothing = read_file(at("nothing"));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ENOENT);
  EXPECT_THAT(nothing.error().message, StartsWith(at("nothing") + ": cannot be read: "));
  EXPECT_EQ(read_file(at("")).error().code, EISDIR);
}

TEST_F(File, ThatIsNotThereHoldsNothing) {
  EXPECT_EQ(read_if_there(at("nothing")), "");
  EXPECT_THAT(read_if_there("/proc/self/status"), StartsWith("Name:"));
}

TEST_F(File, ThatIsTooLargeIsNotRead) {
  ASSERT_TRUE(write_atomically(at("a"), "12345"));
  EXPECT_EQ(read_file(at("a"), 5).value(), "12345");
  EXPECT_EQ(read_file(at("a"), 4).error().code, EFBIG);
}

TEST_F(File, WhereNothingCanBeWrittenIsLeftAsItWas) {
  const auto nowhere = write_atomically(at("folder/a"), "1");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ENOENT);
  EXPECT_THAT(nowhere.error().message, StartsWith(at("folder/a") + ": cannot be written: "));
  EXPECT_EQ(write_atomically(at(""), "1").error().code, EISDIR);
  EXPECT_EQ(count(), 0u);
}

TEST_F(File, OnAFullDiskSaysSo) {
  const auto full = write_atomically("/dev/full", "1");
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, EndsWith("No space left on device"));
}

TEST_F(File, ALinkStaysALink) {
  ASSERT_TRUE(write_atomically(at("a"), "1"));
  fs::create_symlink("a", at("link"));
  ASSERT_TRUE(write_atomically(at("link"), "2"));
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read_file(at("a")).value(), "2");
}

TEST_F(File, ReadersKeepTheFileThatTheyHaveOpened) {
  ASSERT_TRUE(write_atomically(at("a"), "old"));
  std::ifstream before(at("a"));
  ASSERT_TRUE(write_atomically(at("a"), "new"));
  std::string text;
  before >> text;
  EXPECT_EQ(text, "old");
}

}  // namespace
}  // namespace cotillion
