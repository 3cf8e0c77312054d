// What becomes of a contribution at an edge: the merge rule of docs/understand/protocol.md, as a
// pure function of four masks, two keys, a bit. It knows no packet, no payload, no clock and no
// counter. This is what hardware has to decide in a clock, once the header is there; all else that
// an edge does carries the decision out.
#pragma once

#include "protocol/round_spec.hpp"

namespace cotillion {

// What a slot holds.
struct SlotState {
  ChunkKey key = 0;
  ContributorMask mask = 0;  // of whom; 0: the slot is free

  [[nodiscard]] constexpr bool is_free() const { return mask == 0; }
  [[nodiscard]] constexpr bool holds(ChunkKey chunk) const { return mask != 0 && key == chunk; }
};

// What is known of a chunk besides its slot.
struct LedgerState {
  ContributorMask gone_out = 0;  // whose contributions have left, in sums of any kind
  ContributorMask expected = 0;  // everyone that the round expects here
  bool is_due = false;           // the chunk's deadline is over
};

// A contribution that passed every check. Its mask is not empty and within those expected.
struct ContributionState {
  ChunkKey key = 0;
  ContributorMask mask = 0;
};

enum class MergeFate : std::uint8_t {
  kDuplicate,    // dropped: all of its contributors were seen
  kOverlap,      // dropped: some of them were, and it cannot be taken apart
  kPassesLate,   // leaves alone: it must not cost a newer sum its slot
  kPassesWhole,  // leaves alone: it is all that was missing, and needs no slot
  kEvicts,       // the older chunk in the slot leaves, and this one starts there
  kStarts,       // takes a free slot
  kJoins,        // is added to the sum in the slot
};

struct MergeDecision {
  MergeFate fate = MergeFate::kDuplicate;
  bool completes = false;  // everyone expected has been seen: the chunk's last sum leaves now

  friend bool operator==(const MergeDecision&, const MergeDecision&) = default;
};

[[nodiscard]] constexpr MergeDecision decide(const SlotState& slot, const LedgerState& ledger,
                                             const ContributionState& contribution) {
  const bool resident = slot.holds(contribution.key);
  const ContributorMask seen = ledger.gone_out | (resident ? slot.mask : 0);
  if ((contribution.mask & ~seen) == 0) return {MergeFate::kDuplicate};
  if ((contribution.mask & seen) != 0) return {MergeFate::kOverlap};
  const bool completes = (seen | contribution.mask) == ledger.expected;
  if (ledger.is_due) return {MergeFate::kPassesLate, completes};
  if (resident) return {MergeFate::kJoins, completes};
  if (!slot.is_free() && slot.key > contribution.key) return {MergeFate::kPassesLate, completes};
  if (completes) return {MergeFate::kPassesWhole, true};
  return {slot.is_free() ? MergeFate::kStarts : MergeFate::kEvicts};
}

// What a sum of these contributors is called when it leaves.
[[nodiscard]] constexpr PacketType type_of_sum(const LedgerState& before, ContributorMask mask,
                                               bool late) {
  const bool whole = before.gone_out == 0 && mask == before.expected && !late;
  return whole ? PacketType::kResult : PacketType::kPartial;
}

}  // namespace cotillion
