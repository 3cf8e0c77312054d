// The merge rule by itself: every case of four contributors, held to what the table in
// docs/understand/protocol.md says, and what must follow from it whatever comes.
#include "protocol/merge_decision.hpp"

#include <gtest/gtest.h>

#include <map>

namespace cotillion {
namespace {

constexpr ChunkKey kOlder = 3, kChunk = 5, kNewer = 9;
constexpr ContributorMask kMasks = 16;  // of four contributors

// Every state that an edge can be in when a contribution of kChunk comes, calls visit(slot, ledger,
// contribution).
template <class Visit>
void for_each_case(Visit visit) {
  for (ContributorMask expected = 1; expected < kMasks; ++expected)
    for (ContributorMask gone_out = 0; gone_out < kMasks; ++gone_out)
      for (ContributorMask in_slot = 0; in_slot < kMasks; ++in_slot)
        for (const ChunkKey key : {kOlder, kChunk, kNewer})
          for (const bool is_due : {false, true})
            for (ContributorMask mask = 1; mask < kMasks; ++mask) {
              const bool resident = in_slot != 0 && key == kChunk;
              if (((gone_out | mask) & ~expected) != 0) continue;
              // A slot holds what is expected, has not gone out, is not all there is, and is not
              // due.
              if (resident && ((in_slot & ~expected) != 0 || (in_slot & gone_out) != 0 ||
                               (in_slot | gone_out) == expected || is_due))
                continue;
              visit(SlotState{key, in_slot}, LedgerState{gone_out, expected, is_due},
                    ContributionState{kChunk, mask});
            }
}

// The table from its top, row by row.
MergeFate as_the_table_says(const SlotState& slot, const LedgerState& ledger,
                            const ContributionState& contribution) {
  ContributorMask seen = ledger.gone_out;
  const bool taken = slot.mask != 0;
  if (taken && slot.key == contribution.key) seen |= slot.mask;
  int new_ones = 0, seen_ones = 0;
  for (unsigned bit = 0; bit < 4; ++bit)
    if ((contribution.mask >> bit & 1) != 0) ++((seen >> bit & 1) != 0 ? seen_ones : new_ones);
  if (new_ones == 0) return MergeFate::kDuplicate;
  if (seen_ones > 0) return MergeFate::kOverlap;
  if (ledger.is_due) return MergeFate::kPassesLate;
  if (taken && slot.key > contribution.key) return MergeFate::kPassesLate;
  if (taken && slot.key == contribution.key) return MergeFate::kJoins;
  if ((seen | contribution.mask) == ledger.expected) return MergeFate::kPassesWhole;
  return taken ? MergeFate::kEvicts : MergeFate::kStarts;
}

TEST(MergeDecision, IsThatOfTheTableInEveryCase) {
  std::map<MergeFate, int> cases;
  for_each_case(
      [&](const SlotState& slot, const LedgerState& ledger, const ContributionState& contribution) {
        const MergeDecision decision = decide(slot, ledger, contribution);
        EXPECT_EQ(decision.fate, as_the_table_says(slot, ledger, contribution))
            << slot.key << ' ' << slot.mask << ' ' << ledger.gone_out << ' ' << ledger.expected
            << ' ' << ledger.is_due << ' ' << contribution.mask;
        ++cases[decision.fate];
      });
  EXPECT_EQ(cases.size(), 7u);  // each of them happens
}

TEST(MergeDecision, CountsNobodyTwiceAndNeverPutsANewerChunkOut) {
  for_each_case(
      [](const SlotState& slot, const LedgerState& ledger, const ContributionState& contribution) {
        const auto [fate, completes] = decide(slot, ledger, contribution);
        const ContributorMask seen = ledger.gone_out | (slot.holds(kChunk) ? slot.mask : 0);
        const bool dropped = fate == MergeFate::kDuplicate || fate == MergeFate::kOverlap;
        EXPECT_EQ(dropped, (seen & contribution.mask) != 0);
        EXPECT_EQ(completes, !dropped && (seen | contribution.mask) == ledger.expected);
        // An older chunk leaves its slot only for one that has more to come.
        const bool evicts = fate == MergeFate::kEvicts;
        EXPECT_TRUE(!evicts || (!slot.is_free() && slot.key == kOlder && !completes));
        // What is due opens no slot.
        EXPECT_TRUE(!ledger.is_due || dropped || fate == MergeFate::kPassesLate);
      });
}

TEST(MergeDecision, ASumIsAResultOnlyWholeInTimeAndFirst) {
  for (ContributorMask gone_out = 0; gone_out < kMasks; ++gone_out)
    for (ContributorMask mask = 1; mask < kMasks; ++mask)
      for (const bool late : {false, true}) {
        const PacketType type = type_of_sum({gone_out, 0b1110, false}, mask, late);
        EXPECT_EQ(type == PacketType::kResult, gone_out == 0 && mask == 0b1110 && !late);
        EXPECT_TRUE(type == PacketType::kResult || type == PacketType::kPartial);
      }
}

}  // namespace
}  // namespace cotillion
