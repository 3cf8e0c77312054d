// The sums that wait at one receiver: a fragment's from its first arrival until it is merged, and,
// of chunks that were merged without some contributors, what a late correction needs.
#pragma once

#include <utility>

#include "protocol/accumulator.hpp"
#include "protocol/received_rounds.hpp"

namespace cotillion {

class ReceivedSums {
 public:
  // `counted`: nothing is kept for late corrections.
  ReceivedSums(const JobSpec& job, int live_rounds, bool counted);

  // No NaN and no infinity in a payload.
  [[nodiscard]] bool finite(ByteView payload) const {
    return wire_.finite(payload.data(), payload.size() / bytes_of(job_.element));
  }
  // Of a chunk that is not merged yet.
  [[nodiscard]] std::byte* of(ReceivedRound& round, ChunkId chunk);
  // The same, or null while nothing but zeros came.
  [[nodiscard]] const std::byte* values_of(ReceivedRound& round, ChunkId chunk) {
    return round.blank[chunk] != 0 ? nullptr : of(round, chunk);
  }
  // False when the sum would not be finite, and is left as it was.
  [[nodiscard]] bool add(ReceivedRound& round, ChunkId chunk, ByteView payload);

  // Keeps a chunk's sum, and S, beyond its merge.
  void keep(ReceivedRound& round, ChunkId chunk, ByteView own);
  [[nodiscard]] const std::byte* kept_sum(const ReceivedRound& round, ChunkId chunk) const {
    return round.blank[chunk] != 0 ? nullptr : owed_.at(round.owed[chunk]);
  }
  [[nodiscard]] const std::byte* kept_own(const ReceivedRound& round, ChunkId chunk) const {
    return owed_.at(round.owed[chunk]) + stride_;
  }
  // Adds a sum of what came late to what was kept; false as above.
  [[nodiscard]] bool add_to_kept(ReceivedRound& round, ChunkId chunk, const std::byte* more);
  // Adds a payload to a sum of the same kind.
  [[nodiscard]] bool add_payload(std::byte* sum, ByteView payload);

  void give_back(ReceivedFragment& fragment);
  void give_back_kept(ReceivedRound& round, ChunkId chunk);
  void give_back_all(ReceivedRound& round);

  [[nodiscard]] std::size_t stride() const { return stride_; }
  // At most so far.
  [[nodiscard]] std::size_t most_bytes() const { return sums_.most_bytes() + owed_.most_bytes(); }

 private:
  [[nodiscard]] bool add_finite(std::byte* sum, bool first, const Accumulator& lanes,
                                ByteView more);

  JobSpec job_;
  std::size_t stride_;
  const Accumulator& wire_;   // what payloads are made of
  const Accumulator& lanes_;  // and sums: 4 bytes each, f32 for bf16
  BlockPool sums_;            // a fragment's
  BlockPool owed_;            // a chunk's sum, and S after it
  AlignedBytes scratch_;      // one sum
};

// Sums that came after their fragment was merged and wait for a late correction, while there is
// room.
struct LateChunk {
  bool used = false;
  RoundId round = 0;
  ChunkId chunk = 0;
  ContributorMask mask = 0;
};

class LateSums {
 public:
  LateSums(std::size_t chunks, std::size_t stride)
      : stride_(stride), chunks_(chunks), sums_(chunks * stride) {}

  [[nodiscard]] LateChunk* find(RoundId round, ChunkId chunk);
  // A place for another; null: there is none. Its sum is zero.
  [[nodiscard]] LateChunk* take(RoundId round, ChunkId chunk);
  [[nodiscard]] std::byte* sum_of(const LateChunk& late) {
    return sums_.at(std::size_t(&late - chunks_.data()) * stride_);
  }
  [[nodiscard]] std::vector<LateChunk>& all() { return chunks_; }

 private:
  std::size_t stride_;
  std::vector<LateChunk> chunks_;
  AlignedBytes sums_;
};

}  // namespace cotillion
