// The arithmetic that all parties share: chunks, payloads, fragments.
#include "protocol/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace cotillion {
namespace {

using ::testing::HasSubstr;

JobSpec small_job() {
  return {.id = 1, .elements = 1000, .beats = 2, .fragments = 3};
}

std::string refusal(const JobSpec& job) {
  const auto sound = checked(job);
  return sound ? "accepted" : sound.error().message;
}

JobSpec any_job() {
  JobSpec job;
  job.element = *rc::gen::element(Element::kF32, Element::kBf16, Element::kI32);
  job.beats = *rc::gen::inRange(1, 20);
  job.elements = *rc::gen::inRange<std::uint64_t>(1, 40'000);
  job.fragments = *rc::gen::inRange(1, int(std::min<ChunkId>(chunk_count(job), 64)) + 1);
  RC_PRE(checked(job).has_value());
  return job;
}

RC_GTEST_PROP(Job, EveryElementLiesInOneChunk, ()) {
  const JobSpec job = any_job();
  std::uint64_t next = 0;
  for (ChunkId chunk = 0; chunk < chunk_count(job); ++chunk) {
    RC_ASSERT(first_element(job, chunk) == next);
    RC_ASSERT(elements_in(job, chunk) > 0u);
    next += elements_in(job, chunk);
  }
  RC_ASSERT(next == job.elements);
}

RC_GTEST_PROP(Job, OnlyTheLastChunkIsShort, ()) {
  const JobSpec job = any_job();
  for (ChunkId chunk = 0; chunk + 1 < chunk_count(job); ++chunk) {
    RC_ASSERT(elements_in(job, chunk) == elements_per_chunk(job));
    RC_ASSERT(payload_bytes(job, chunk) == payload_bytes(job));
  }
}

RC_GTEST_PROP(Job, PayloadsAreWholeBeatsWithLessThanOneToSpare, ()) {
  const JobSpec job = any_job();
  const ChunkId last = chunk_count(job) - 1;
  const std::size_t payload = payload_bytes(job, last);
  const std::size_t used = elements_in(job, last) * bytes_of(job.element);
  RC_ASSERT(payload % kBeatBytes == 0u);
  RC_ASSERT(payload >= used);
  RC_ASSERT(payload - used < kBeatBytes);
  RC_ASSERT(payload <= payload_bytes(job));
}

RC_GTEST_PROP(Job, FragmentsPartitionTheChunksEvenly, ()) {
  const JobSpec job = any_job();
  RC_ASSERT(first_chunk(job, 0) == 0u);
  RC_ASSERT(first_chunk(job, job.fragments) == chunk_count(job));
  const ChunkId least = chunk_count(job) / ChunkId(job.fragments);
  for (int f = 0; f < job.fragments; ++f) {
    const ChunkId size = first_chunk(job, f + 1) - first_chunk(job, f);
    RC_ASSERT(size == least || size == least + 1);
    RC_ASSERT(size > 0u);
  }
}

RC_GTEST_PROP(Job, EveryChunkKnowsItsFragment, ()) {
  const JobSpec job = any_job();
  for (ChunkId chunk = 0; chunk < chunk_count(job); ++chunk) {
    const int f = fragment_of(job, chunk);
    RC_ASSERT(f >= 0 && f < job.fragments);
    RC_ASSERT(first_chunk(job, f) <= chunk && chunk < first_chunk(job, f + 1));
  }
}

TEST(Job, AShortLastChunkIsFilledUpToItsBeat) {
  const JobSpec job = small_job();  // 32 floats a chunk
  EXPECT_EQ(chunk_count(job), 32u);
  EXPECT_EQ(elements_in(job, 31), 8u);
  EXPECT_EQ(payload_bytes(job, 31), 64u);
  EXPECT_EQ(payload_bytes(job), 128u);
}

TEST(Job, Bf16TakesTwoBytesOnTheWireAndFourInASlot) {
  JobSpec job = small_job();
  job.element = Element::kBf16;
  EXPECT_EQ(elements_per_chunk(job), 64u);
  EXPECT_EQ(slot_bytes(job), 256u);
  job.element = Element::kF32;
  EXPECT_EQ(slot_bytes(job), 128u);
}

TEST(Job, TheLargestModelFillsAllChunks) {
  JobSpec job = small_job();
  job.fragments = 1;
  job.elements = std::uint64_t(kChunksMax) * elements_per_chunk(job);
  ASSERT_TRUE(checked(job).has_value());
  EXPECT_EQ(chunk_count(job), kChunksMax);
  EXPECT_EQ(first_element(job, kChunksMax - 1) + elements_in(job, kChunksMax - 1), job.elements);
  ++job.elements;
  EXPECT_THAT(refusal(job), HasSubstr("use more beats"));
}

TEST(Job, ManyFragmentsOfManyChunksDoNotOverflow) {
  JobSpec job = small_job();
  job.elements = std::uint64_t(kChunksMax) * elements_per_chunk(job);
  job.fragments = 1 << 27;
  ASSERT_TRUE(checked(job).has_value());
  EXPECT_EQ(first_chunk(job, job.fragments), kChunksMax);
  EXPECT_EQ(fragment_of(job, kChunksMax - 1), job.fragments - 1);
  EXPECT_EQ(fragment_of(job, 0), 0);
}

TEST(Job, ASoundJobIsReturnedAsItIs) {
  const auto sound = checked(small_job());
  ASSERT_TRUE(sound.has_value());
  EXPECT_EQ(*sound, small_job());
}

TEST(Job, ARefusalNamesTheFieldAndTheRemedy) {
  JobSpec job = small_job();
  job.id = 0;
  EXPECT_THAT(refusal(job), HasSubstr("job id 0 is reserved"));

  job = small_job();
  job.element = Element(0);
  EXPECT_THAT(refusal(job), HasSubstr("unknown element 0; f32, bf16 or i32"));
  job.element = Element(4);
  EXPECT_THAT(refusal(job), HasSubstr("unknown element 4"));

  job = small_job();
  job.operation = Operation(3);
  EXPECT_THAT(refusal(job), HasSubstr("unknown operation 3"));

  for (const int beats : {0, -1, kBeatsMax + 1}) {
    job = small_job();
    job.beats = beats;
    EXPECT_THAT(refusal(job), HasSubstr("beats in a packet; between 1 and 1022"));
  }

  job = small_job();
  job.elements = 0;
  EXPECT_THAT(refusal(job), HasSubstr("without elements"));

  for (const int fragments : {0, -1, 33}) {
    job = small_job();
    job.fragments = fragments;
    EXPECT_THAT(refusal(job), HasSubstr("fragments of 32 chunks; at least one chunk in each"));
  }
  job.fragments = 32;
  EXPECT_TRUE(checked(job).has_value());
}

}  // namespace
}  // namespace cotillion
