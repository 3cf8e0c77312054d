// Packets under way on a lane, first in, first out. They lie in blocks that all lanes share:
// whatever one has emptied another fills next, while it is still in the cache.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "sim/packet_pool.hpp"
#include "sim/route.hpp"

namespace cotillion {

// One packet on one lane, in one cache line. A header without payload, which is most of what is
// sent where payloads are only counted, travels in it: hundreds of thousands are under way at once,
// and to look for each of them elsewhere in memory would take longer than all the rest.
struct alignas(64) InFlight {
  Instant arrival;
  const Route::Step* step = nullptr;
  std::uint32_t wire_bytes = 0;  // how long the packet is on a lane
  PacketId packet = 0;           // in the pool; from kHere on: in `bytes`, that many more of them
  std::array<std::byte, packet_bytes(0)> bytes;

  static constexpr PacketId kHere = 0xffffff00;
  [[nodiscard]] bool here() const { return packet >= kHere; }
};
static_assert(sizeof(InFlight) == 64);

class InFlightBlocks {
 public:
  static constexpr std::size_t kItems = 255;
  struct Block {
    std::array<InFlight, kItems> items;
    Block* next = nullptr;
  };

  [[nodiscard]] Block* take() {
    if (free_ == nullptr) {
      all_.push_back(std::make_unique<Block>());
      return all_.back().get();
    }
    Block* const block = free_;
    free_ = block->next;
    return block;
  }
  void give_back(Block* block) {
    block->next = free_;
    free_ = block;
  }

 private:
  std::vector<std::unique_ptr<Block>> all_;
  Block* free_ = nullptr;  // the last one given back is the first to be taken
};

class InFlightQueue {
 public:
  explicit InFlightQueue(InFlightBlocks& blocks)
      : blocks_(&blocks), first_(blocks.take()), last_(first_) {}

  [[nodiscard]] bool empty() const { return from_ == to_ && first_ == last_; }
  [[nodiscard]] const InFlight& front() const { return first_->items[from_]; }
  // What will be in front after so many more; nothing if the queue is not that long.
  [[nodiscard]] const InFlight* after(std::size_t more) const {
    const InFlightBlocks::Block* block = first_;
    std::size_t at = from_ + more;
    if (at >= kItems && first_ != last_) {
      block = first_->next;
      at -= kItems;
    }
    return at < (block == last_ ? to_ : kItems) ? &block->items[at] : nullptr;
  }

  // That one will be asked for before long.
  void fetch(std::size_t more) const {
    __builtin_prefetch(&first_->items[std::min(from_ + more, kItems - 1)]);
  }

  // Room for one more, to be filled in.
  [[nodiscard]] InFlight& push() {
    if (to_ == kItems) {
      last_->next = blocks_->take();
      last_ = last_->next;
      to_ = 0;
    }
    return last_->items[to_++];
  }
  void pop() {
    ++from_;
    if (empty()) {
      from_ = to_ = 0;
    } else if (from_ == kItems) {
      InFlightBlocks::Block* const done = first_;
      first_ = first_->next;
      from_ = 0;
      blocks_->give_back(done);
    }
  }

 private:
  static constexpr std::size_t kItems = InFlightBlocks::kItems;

  InFlightBlocks* blocks_;
  InFlightBlocks::Block* first_;
  InFlightBlocks::Block* last_;
  std::size_t from_ = 0, to_ = 0;  // in the first and the last block
};

}  // namespace cotillion
