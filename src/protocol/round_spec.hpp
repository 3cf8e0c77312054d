// What an edge, a sender and a receiver must know of one round to take part in it. It follows
// from the plan; mask bits index the clique's sorted members.
#pragma once

#include <array>

#include "base/units.hpp"
#include "base/wide.hpp"
#include "protocol/job.hpp"
#include "protocol/outbox.hpp"

namespace cotillion {

struct RoundSpec {
  RoundId round = 0;
  int epoch = 0;
  int clique = 0;   // of the round
  int members = 0;  // of the clique
  int own = -1;     // the bit of the island served here; −1 for an edge inside a chain
  ContributorMask expected = 0;  // whose contributions come in here
  // By bit: what a contribution weighs, and by what it is multiplied at this island's edge. Sums
  // carry the products, so a chain of edges serves one island or multiplies by one.
  std::array<std::uint32_t, kCliqueMembersMax> weight{};
  std::array<std::uint32_t, kCliqueMembersMax> coefficient{};
  std::array<SourceId, kCliqueMembersMax> source{};  // by bit: the stream that carries it

  // The latest planned arrival of the first and of the last chunk, slack included; chunks between
  // are due in proportion.
  Instant first_deadline;
  Instant last_deadline;
  // Where sums of the round before may still be on the last hop: a sum that is whole waits in its
  // slot until its turn. The first chunk's, not after its deadline; the others' in proportion.
  Instant held_until{INT64_MIN};

  [[nodiscard]] ContributorMask everyone() const {
    return members == kCliqueMembersMax ? ~ContributorMask(0)
                                        : (ContributorMask(1) << unsigned(members)) - 1;
  }
};

// A round of equal islands, everyone expected but `own`, sources numbered like bits.
[[nodiscard]] RoundSpec equal_round(RoundId round, int members, int own);

[[nodiscard]] Instant chunk_deadline(const RoundSpec& round, const JobSpec& job, ChunkId chunk);

// Σ weight × coefficient over a mask: the weight that a sum of these contributions must carry.
[[nodiscard]] std::uint32_t weight_of(const RoundSpec& round, ContributorMask mask);

// Whether numbers fit the wire and the sums of weights 32 bits; the remedy otherwise.
[[nodiscard]] Result<RoundSpec> checked(const RoundSpec& round, const JobSpec& job);

// A key orders the chunks of all rounds, and the slot that a key uses follows from it. There is no
// other index function.
using ChunkKey = std::uint64_t;
[[nodiscard]] constexpr ChunkKey key_of(ChunkId chunks, RoundId round, ChunkId chunk) {
  return ChunkKey(round) * chunks + chunk;
}
[[nodiscard]] constexpr ChunkKey key_of(const JobSpec& job, RoundId round, ChunkId chunk) {
  return key_of(chunk_count(job), round, chunk);
}
[[nodiscard]] constexpr std::size_t slot_of(ChunkKey key, std::size_t slots) {
  return std::size_t(key % slots);
}

// The same without dividing, for one round: a packet comes every few nanoseconds, and a division
// would be the longest part of finding its slot. Two products give the remainder of 32-bit numbers
// exactly (Lemire, Kaser and Kurz: Faster remainder by direct computation).
class SlotFinder {
 public:
  SlotFinder() = default;
  SlotFinder(ChunkKey first_key, std::size_t slots)
      : slots_(slots), first_(slot_of(first_key, slots)), inverse_(UINT64_MAX / slots + 1) {}

  [[nodiscard]] std::size_t operator()(ChunkId chunk) const {
    const std::uint64_t from_first = first_ + chunk;
    if (from_first >= UINT32_MAX || slots_ >= UINT32_MAX) return slot_of(from_first, slots_);
    const std::uint64_t fraction = inverse_ * from_first;
    return std::size_t(Unsigned128(fraction) * slots_ >> 64);
  }

 private:
  std::size_t slots_ = 1;
  std::uint64_t first_ = 0, inverse_ = 0;
};

}  // namespace cotillion
