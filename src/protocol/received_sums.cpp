#include "protocol/received_sums.hpp"

#include <algorithm>
#include <cstring>

namespace cotillion {
namespace {

ChunkId chunks_of_fragment(const JobSpec& job) {
  const auto fragments = ChunkId(job.fragments);
  return (chunk_count(job) + fragments - 1) / fragments;
}

}  // namespace

ReceivedSums::ReceivedSums(const JobSpec& job, int live_rounds, bool counted)
    : job_(job),
      stride_(whole_lines(slot_bytes(job))),
      wire_(accumulator(job.element)),
      lanes_(accumulator(job.element == Element::kI32 ? Element::kI32 : Element::kF32)),
      sums_(std::size_t(live_rounds) * std::size_t(job.fragments),
            stride_ * chunks_of_fragment(job)),
      owed_(counted ? 0 : std::size_t(live_rounds) * chunk_count(job),
            stride_ + payload_bytes(job)),
      scratch_(stride_) {}

std::byte* ReceivedSums::of(ReceivedRound& round, ChunkId chunk) {
  const int fragment = fragment_of(job_, chunk);
  std::uint32_t& block = round.fragments[fragment].sums;
  if (block == kNoBlock) block = sums_.lend();
  return sums_.at(block) + std::size_t(chunk - first_chunk(job_, fragment)) * stride_;
}

bool ReceivedSums::add(ReceivedRound& round, ChunkId chunk, ByteView payload) {
  if (!add_finite(of(round, chunk), round.blank[chunk] != 0, wire_, payload)) return false;
  round.blank[chunk] = 0;
  return true;
}

bool ReceivedSums::add_payload(std::byte* sum, ByteView payload) {
  return add_finite(sum, false, wire_, payload);
}

void ReceivedSums::keep(ReceivedRound& round, ChunkId chunk, ByteView own) {
  const std::byte* sum = values_of(round, chunk);
  const std::uint32_t block = round.owed[chunk] = owed_.lend();
  if (sum != nullptr) std::memcpy(owed_.at(block), sum, stride_);
  std::memcpy(owed_.at(block) + stride_, own.data(), own.size());
}

bool ReceivedSums::add_to_kept(ReceivedRound& round, ChunkId chunk, const std::byte* more) {
  const std::size_t lanes = payload_bytes(job_, chunk) / bytes_of(job_.element);
  if (!add_finite(owed_.at(round.owed[chunk]), round.blank[chunk] != 0, lanes_,
                  ByteView(more, lanes * slot_bytes_of(job_.element))))
    return false;
  round.blank[chunk] = 0;
  return true;
}

// Two finite sums may add up to infinity, which must not reach the model: then the second one is
// left out, and missed.
bool ReceivedSums::add_finite(std::byte* sum, bool first, const Accumulator& lanes, ByteView more) {
  const std::size_t each = &lanes == &wire_ ? bytes_of(job_.element) : slot_bytes_of(job_.element);
  const std::size_t elements = more.size() / each;
  if (first) {
    lanes.write(sum, more.data(), elements, 1);
    return true;
  }
  if (job_.element == Element::kI32) {
    lanes.add(sum, more.data(), elements, 1);
    return true;
  }
  std::memcpy(scratch_.at(0), sum, elements * sizeof(float));
  lanes.add(scratch_.at(0), more.data(), elements, 1);
  if (!lanes_.finite(scratch_.at(0), elements)) return false;
  std::memcpy(sum, scratch_.at(0), elements * sizeof(float));
  return true;
}

void ReceivedSums::give_back(ReceivedFragment& fragment) {
  if (fragment.sums != kNoBlock) sums_.give_back(std::exchange(fragment.sums, kNoBlock));
}

void ReceivedSums::give_back_kept(ReceivedRound& round, ChunkId chunk) {
  if (round.owed[chunk] != kNoBlock) owed_.give_back(std::exchange(round.owed[chunk], kNoBlock));
}

void ReceivedSums::give_back_all(ReceivedRound& round) {
  for (int f = 0; f < job_.fragments; ++f) give_back(round.fragments[f]);
  for (ChunkId chunk = 0; round.owed != nullptr && chunk < chunk_count(job_); ++chunk)
    give_back_kept(round, chunk);
}

LateChunk* LateSums::find(RoundId round, ChunkId chunk) {
  const auto found = std::find_if(chunks_.begin(), chunks_.end(), [&](const LateChunk& late) {
    return late.used && late.round == round && late.chunk == chunk;
  });
  return found == chunks_.end() ? nullptr : &*found;
}

LateChunk* LateSums::take(RoundId round, ChunkId chunk) {
  const auto free = std::find_if(chunks_.begin(), chunks_.end(),
                                 [](const LateChunk& late) { return !late.used; });
  if (free == chunks_.end()) return nullptr;
  *free = {true, round, chunk, 0};
  std::memset(sum_of(*free), 0, stride_);
  return &*free;
}

}  // namespace cotillion
