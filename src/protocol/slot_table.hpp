// The slots of one job at one edge: in each the sum of one chunk, and whose contributions are in
// it. It does what it is told; what becomes of a contribution is `protocol/merge_decision`.
#pragma once

#include <algorithm>
#include <vector>

#include "protocol/accumulator.hpp"
#include "protocol/aggregation_spec.hpp"
#include "protocol/aligned_bytes.hpp"
#include "protocol/merge_decision.hpp"

namespace cotillion {

// A contribution as it is summed.
struct Contribution {
  ChunkId chunk;
  ContributorMask mask;
  std::uint32_t weight;       // after the coefficient
  std::uint32_t coefficient;  // 1 for sums
  std::uint8_t flags;
  ByteView payload;  // empty for ZERO
};

struct Slot : SlotState {
  std::uint32_t weight = 0;
  std::uint8_t flags = 0;  // inherited ones, and ZERO while nothing but zeros came
  bool parted = false;     // the ledger has parts of it, too
};
static_assert(sizeof(Slot) == kSlotRecordBytes);

class SlotTable {
 public:
  explicit SlotTable(const AggregationSpec& spec)
      : accumulator_(accumulator(spec.job.element)),
        element_bytes_(bytes_of(spec.job.element)),
        stride_(stored_sum(spec)),
        slots_(spec.slots),
        sums_(spec.slots * stride_),
        scratch_(stride_) {}

  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  [[nodiscard]] const Slot& operator[](std::size_t index) const { return slots_[index]; }
  [[nodiscard]] const std::byte* sum_of(std::size_t index) const {
    return sums_.at(index * stride_);
  }
  [[nodiscard]] std::size_t open() const { return open_; }
  [[nodiscard]] std::size_t open_peak() const { return open_peak_; }
  [[nodiscard]] ByteSpan sums() { return {sums_.at(0), sums_.size()}; }
  void prefetch(std::size_t index) const { __builtin_prefetch(&slots_[index], 1); }

  // Requires that the slot is free.
  void start(std::size_t index, ChunkKey key, bool parted) {
    slots_[index] = {{key, 0}, 0, flag::kZero, parted};
    open_peak_ = std::max(open_peak_, ++open_);
  }
  void join(std::size_t index, const Contribution& contribution) {
    Slot& slot = slots_[index];
    const bool first = (slot.flags & flag::kZero) != 0;
    slot.mask |= contribution.mask;
    slot.weight += contribution.weight;
    slot.flags |= contribution.flags & flag::kInherited;
    if (contribution.payload.empty()) return;
    slot.flags &= std::uint8_t(~flag::kZero);
    (first ? accumulator_.write : accumulator_.add)(
        sums_.at(index * stride_), contribution.payload.data(),
        contribution.payload.size() / element_bytes_, contribution.coefficient);
  }
  void mark(std::size_t index, std::uint8_t flags) { slots_[index].flags |= flags; }
  // Empties the slot. Its sum stays readable until the slot is started again.
  [[nodiscard]] Slot take(std::size_t index) {
    const Slot leaving = slots_[index];
    slots_[index].mask = 0;
    --open_;
    return leaving;
  }
  // The sum of one contribution that takes no slot, until the next call.
  [[nodiscard]] const std::byte* sum_of(const Contribution& contribution) {
    accumulator_.write(scratch_.at(0), contribution.payload.data(),
                       contribution.payload.size() / element_bytes_, contribution.coefficient);
    return scratch_.at(0);
  }

 private:
  const Accumulator& accumulator_;
  std::size_t element_bytes_;
  std::size_t stride_;
  std::vector<Slot> slots_;
  AlignedBytes sums_;
  AlignedBytes scratch_;  // one sum
  std::size_t open_ = 0;
  std::size_t open_peak_ = 0;
};

}  // namespace cotillion
