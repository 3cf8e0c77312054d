#include "protocol/job.hpp"

#include <fmt/format.h>

namespace cotillion {

Result<JobSpec> checked(const JobSpec& job) {
  if (job.id == 0) return failure("job id 0 is reserved; number jobs from 1");
  if (job.element < Element::kF32 || job.element > Element::kI32)
    return failure(fmt::format("unknown element {}; f32, bf16 or i32", int(job.element)));
  if (job.operation != Operation::kSum && job.operation != Operation::kWeightedSum)
    return failure(fmt::format("unknown operation {}; sum or weighted sum", int(job.operation)));
  if (job.beats < 1 || job.beats > kBeatsMax)
    return failure(
        fmt::format("{} beats in a packet; between 1 and {} (22 fit an MTU of 1476, "
                    "139 one of 9000)",
                    job.beats, kBeatsMax));
  if (job.elements == 0) return failure("a model without elements; nothing to exchange");
  const std::uint64_t most = std::uint64_t(kChunksMax) * elements_per_chunk(job);
  if (job.elements > most)
    return failure(fmt::format("{} elements are more than {} chunks of {} beats; use more beats",
                               job.elements, kChunksMax, job.beats));
  if (job.fragments < 1 || ChunkId(job.fragments) > chunk_count(job))
    return failure(fmt::format("{} fragments of {} chunks; at least one chunk in each",
                               job.fragments, chunk_count(job)));
  return job;
}

int fragment_of(const JobSpec& job, ChunkId chunk) {
  if (job.fragments == 1) return 0;
  auto fragment = int(std::uint64_t(chunk) * std::uint64_t(job.fragments) / chunk_count(job));
  while (fragment + 1 < job.fragments && first_chunk(job, fragment + 1) <= chunk) ++fragment;
  return fragment;
}

}  // namespace cotillion
