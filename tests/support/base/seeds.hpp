// Seeds of property tests: how many a build tries, and how a failure is tried again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cotillion::testing {

// Seeds for a test that tries many: `count` of them from 1 on, times COTILLION_SEEDS if that is
// set, a part of them under sanitizers; or COTILLION_SEED alone.
[[nodiscard]] std::vector<std::uint64_t> seeds_to_try(std::uint64_t count);
// The command that tries one of them again.
[[nodiscard]] std::string replay_command(std::uint64_t seed);

}  // namespace cotillion::testing
