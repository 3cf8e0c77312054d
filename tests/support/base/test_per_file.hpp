// Suites that hold one test for each file of a folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace cotillion::testing {

// The file's name as a name that a test may have.
[[nodiscard]] inline std::string test_name(
    const ::testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace cotillion::testing
