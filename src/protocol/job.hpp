// What all parties to one job agree on before the first round: which elements, how many, in
// packets of what size. Chunk numbers, payload lengths and slot widths follow from it, here and
// nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "protocol/packet.hpp"

namespace cotillion {

enum class Payloads : std::uint8_t {
  kReal,
  kCounted,  // for rehearsals: every chunk is taken for zeros, and nothing is stored
};

struct JobSpec {
  JobId id = 1;
  Element element = Element::kF32;
  Operation operation = Operation::kSum;
  std::uint64_t elements = 0;  // of the model
  int beats = 22;              // of payload in a packet: 1408 bytes, 1476 with IP and UDP
  int fragments = 1;           // runs of chunks that are snapshotted and merged together

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// A job that makes sense, or the field that does not and the remedy.
[[nodiscard]] Result<JobSpec> checked(const JobSpec& job);

[[nodiscard]] constexpr std::size_t bytes_of(Element element) {
  return element == Element::kBf16 ? 2 : 4;
}
// In a slot: bf16 is summed in f32.
[[nodiscard]] constexpr std::size_t slot_bytes_of(Element) {
  return 4;
}

[[nodiscard]] constexpr std::size_t payload_bytes(const JobSpec& job) {
  return std::size_t(job.beats) * kBeatBytes;
}
[[nodiscard]] constexpr std::size_t elements_per_chunk(const JobSpec& job) {
  return payload_bytes(job) / bytes_of(job.element);
}
[[nodiscard]] constexpr std::size_t slot_bytes(const JobSpec& job) {
  return elements_per_chunk(job) * slot_bytes_of(job.element);
}
[[nodiscard]] constexpr ChunkId chunk_count(const JobSpec& job) {
  const std::size_t each = elements_per_chunk(job);
  return ChunkId((job.elements + each - 1) / each);
}
[[nodiscard]] constexpr std::uint64_t first_element(const JobSpec& job, ChunkId chunk) {
  return std::uint64_t(chunk) * elements_per_chunk(job);
}
// In a chunk; only the last one can be short.
[[nodiscard]] constexpr std::size_t elements_in(const JobSpec& job, ChunkId chunk) {
  const std::uint64_t left = job.elements - first_element(job, chunk);
  const std::size_t each = elements_per_chunk(job);
  return left < each ? std::size_t(left) : each;
}
// On the wire: whole beats, the short last chunk filled up with zeros.
[[nodiscard]] constexpr std::size_t payload_bytes(const JobSpec& job, ChunkId chunk) {
  const std::size_t bytes = elements_in(job, chunk) * bytes_of(job.element);
  return (bytes + kBeatBytes - 1) / kBeatBytes * kBeatBytes;
}

// Fragment f holds chunks [first_chunk(f), first_chunk(f + 1)), as equal as whole chunks allow.
[[nodiscard]] constexpr ChunkId first_chunk(const JobSpec& job, int fragment) {
  return ChunkId(std::uint64_t(chunk_count(job)) * std::uint64_t(fragment) /
                 std::uint64_t(job.fragments));
}
[[nodiscard]] int fragment_of(const JobSpec& job, ChunkId chunk);

}  // namespace cotillion
