// One job over several threads, and what of an edge is theirs.
#include "daemon/shards.hpp"

#include <gtest/gtest.h>

namespace cotillion {
namespace {

TEST(Shards, ShareTheRatesAndTheStoreOfAnEdge) {
  AggregationSpec whole;
  whole.job = {.id = 5, .elements = 16 * 10, .beats = 1};
  whole.resend_packets = 101;
  whole.rate_max = {9e9};
  whole.last_hop = {6e9};
  ChunkId chunks = 0;
  for (int shard = 0; shard < 3; ++shard) {
    const AggregationSpec share = shard_share(whole, shard, 3);
    EXPECT_EQ(share.job.id, JobId(5 + shard));
    EXPECT_EQ(share.resend_packets, 34u);
    EXPECT_EQ(share.rate_max, BitsPerSecond{3e9});
    EXPECT_EQ(share.last_hop, BitsPerSecond{2e9});
    chunks += chunk_count(share.job);
  }
  EXPECT_EQ(chunks, chunk_count(whole.job));
}

}  // namespace
}  // namespace cotillion
