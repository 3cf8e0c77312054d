#include "tests/support/base/seeds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace cotillion::testing {

std::vector<std::uint64_t> seeds_to_try(std::uint64_t count) {
  if (const char* only = std::getenv("COTILLION_SEED")) return {std::strtoull(only, nullptr, 10)};
  const char* factor = std::getenv("COTILLION_SEEDS");
  double wanted = double(count) * (factor == nullptr ? 1.0 : std::strtod(factor, nullptr));
#ifdef COTILLION_SANITIZED
  wanted /= 10;
#endif
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = 1; seed <= std::uint64_t(std::max(1.0, wanted)); ++seed)
    seeds.push_back(seed);
  return seeds;
}

std::string replay_command(std::uint64_t seed) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("COTILLION_SEED={} build/release/protocol_test --gtest_filter={}.{}", seed,
                     test->test_suite_name(), test->name());
}

}  // namespace cotillion::testing
