// Whole networks under random faults on all hops, held to an independent record of deliveries.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/base/seeds.hpp"
#include "tests/support/protocol/net_driver.hpp"

namespace cotillion {
namespace {

TEST(NetProperty, WhatIsDeliveredIsMergedOnceAndWhatIsNotIsReported) {
  testing::Tally all;
  for (const std::uint64_t seed : testing::seeds_to_try(300)) {
    testing::NetDriver driver(seed);
    driver.run();
    ASSERT_EQ(driver.wrong(), "") << "\n  " << testing::replay_command(seed);
    const testing::Tally& tally = driver.tally();
    all.packets += tally.packets;
    all.merges += tally.merges;
    all.late += tally.late;
    all.missing += tally.missing;
    all.whole_chunks += tally.whole_chunks;
    all.restarts += tally.restarts;
  }
  std::printf("%lu packets, %lu averages whole\n", all.packets, all.whole_chunks);
  if (std::getenv("COTILLION_SEED") != nullptr) return;
  EXPECT_GT(all.merges, 0u);
  EXPECT_GT(all.late, 0u);
  EXPECT_GT(all.missing, 0u);
  EXPECT_GT(all.whole_chunks, 0u);
  EXPECT_GT(all.restarts, 0u);
}

}  // namespace
}  // namespace cotillion
