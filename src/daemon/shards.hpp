// One job over several threads. A shard is a job of its own over a run of the model's chunks: its
// own id, ports, sequences, seals and edge, so that nothing is shared between threads and nothing
// in the protocol knows of shards. docs/decisions says why.
#pragma once

#include "base/check.hpp"
#include "job/job_assignment.hpp"
#include "protocol/aggregation_spec.hpp"

namespace cotillion {

// Shard s of job j is job j + s, and lives at the job's ports + s.
[[nodiscard]] constexpr JobId shard_id(JobId job, int shard) {
  return JobId(job + shard);
}

struct ShardJob {
  JobSpec job;
  std::uint64_t first_element = 0;  // of the model; its elements lie in a row
  ChunkId first_chunk = 0;
};

// Runs of chunks as equal as whole chunks allow. Requires a chunk for every shard.
[[nodiscard]] inline ShardJob shard_job(const JobSpec& whole, int shard, int shards) {
  const ChunkId chunks = chunk_count(whole);
  COTILLION_CHECK(shard >= 0 && shard < shards && chunks >= ChunkId(shards));
  const auto first_of = [&](int which) {
    return ChunkId(std::uint64_t(chunks) * std::uint64_t(which) / std::uint64_t(shards));
  };
  const std::uint64_t first = first_element(whole, first_of(shard));
  const std::uint64_t end =
      shard + 1 == shards ? whole.elements : first_element(whole, first_of(shard + 1));
  ShardJob part{whole, first, first_of(shard)};
  part.job.id = shard_id(whole.id, shard);
  part.job.elements = end - first;
  return part;
}

// A shard's share of what an edge gives to the whole job. Streams come to every shard at an equal
// part of their rate, so the window is divided, and the two packets of each stream are not. The
// grid counts the shard's own chunks and is the caller's business.
[[nodiscard]] inline AggregationSpec shard_share(const AggregationSpec& whole, int shard,
                                                 int shards) {
  const auto part_of = [&](std::size_t all) {
    return (all + std::size_t(shards) - 1) / std::size_t(shards);
  };
  AggregationSpec share = whole;
  share.job = shard_job(whole.job, shard, shards).job;
  if (shards > 1) share.slots = part_of(whole.slots) + 2 * std::size_t(whole.members_max);
  share.resend_packets = part_of(whole.resend_packets);
  share.rate_max = whole.rate_max / double(shards);
  share.last_hop = whole.last_hop / double(shards);
  return share;
}

// Every shard's part in a round: its stream leaves at an equal share of the rate, beside the
// others. Chunks are `shards` times as far apart, so the last one may be due that much later.
[[nodiscard]] inline RoundAssignment shard_part(RoundAssignment part, const JobSpec& whole,
                                                int shards) {
  if (shards == 1) return part;
  part.stream.rate = part.stream.rate / double(shards);
  const ChunkId chunks = chunk_count(whole);
  const Duration spread = part.spec.last_deadline - part.spec.first_deadline;
  const Duration more{chunks > 1 ? spread.ps / (chunks - 1) * shards : 0};
  part.spec.last_deadline = part.spec.last_deadline + more;
  part.receiver.spec.last_deadline = part.spec.last_deadline;
  return part;
}

}  // namespace cotillion
