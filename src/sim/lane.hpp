// One direction of a link: packets leave it in the order in which they came, each as long after
// the one before as its bytes take.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "report/outcome.hpp"
#include "sim/packet_pool.hpp"
#include "sim/route.hpp"

namespace cotillion {

// One packet on one lane, in one cache line. A header without payload, which is most of what a
// rehearsal sends, travels in it: hundreds of thousands are under way at once, and to look for each
// of them elsewhere in memory would take longer than all the rest.
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

class Lane {
 public:
  Lane(LaneId id, BitsPerSecond rate, Duration latency)
      : ps_per_byte_(ps_per_byte(rate)), latency_(latency), ring_(64) {
    seen_.lane = id;
  }

  // When a packet that is put on now will have arrived.
  [[nodiscard]] Instant pass(Instant now, std::uint32_t bytes) {
    const double begin = std::max(busy_until_, double(now.ps));
    seen_.queue_longest = std::max(seen_.queue_longest, Duration{std::int64_t(begin) - now.ps});
    busy_until_ = begin + bytes * ps_per_byte_;
    seen_.bytes.count += bytes;
    ++seen_.packets;
    return Instant{std::int64_t(std::floor(busy_until_ + 0.5))} + latency_;
  }

  [[nodiscard]] bool empty() const { return first_ == last_; }
  [[nodiscard]] const InFlight& front() const { return at(first_); }
  void pop() {
    ++first_;
    __builtin_prefetch(&at(first_ + kSoon + 2));
  }
  // What will be in front before long, so that there is time to fetch what it needs; or nothing.
  [[nodiscard]] const InFlight* soon() const {
    return last_ - first_ > kSoon ? &at(first_ + kSoon) : nullptr;
  }
  // Room for one more, to be filled in.
  [[nodiscard]] InFlight& push() {
    if (last_ - first_ > mask_) grow();
    InFlight& item = ring_[last_++ & mask_];
    __builtin_prefetch(&at(last_ + 1), 1);
    return item;
  }
  [[nodiscard]] Duration latency() const { return latency_; }
  [[nodiscard]] LaneOutcome& seen() { return seen_; }
  [[nodiscard]] const LaneOutcome& seen() const { return seen_; }

 private:
  static constexpr std::size_t kSoon = 4;

  void grow() {
    std::vector<InFlight> larger(2 * ring_.size());
    for (std::size_t i = first_; i != last_; ++i) larger[i & (larger.size() - 1)] = at(i);
    ring_.swap(larger);
    mask_ = ring_.size() - 1;
  }

  [[nodiscard]] const InFlight& at(std::size_t number) const { return ring_[number & mask_]; }

  double ps_per_byte_;
  Duration latency_;
  double busy_until_ = 0;       // picoseconds; a packet's time may be a fraction of one
  std::vector<InFlight> ring_;  // a power of two
  std::size_t mask_ = ring_.size() - 1;
  std::size_t first_ = 0, last_ = 0;
  LaneOutcome seen_;
};

}  // namespace cotillion
