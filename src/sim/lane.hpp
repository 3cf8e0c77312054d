// One direction of a link: packets leave it in the order in which they came, each as long after
// the one before as its bytes take.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/outcome.hpp"
#include "sim/packet_pool.hpp"
#include "sim/route.hpp"

namespace cotillion {

struct InFlight {
  Instant arrival;
  PacketId packet = 0;
  const Route* route = nullptr;
  int step = 0;
};

class Lane {
 public:
  Lane(LaneId id, BitsPerSecond rate, Duration latency)
      : ps_per_byte_(ps_per_byte(rate)), latency_(latency), ring_(64) {
    seen_.lane = id;
  }

  // When a packet that is put on now will have arrived.
  [[nodiscard]] Instant pass(Instant now, double bytes) {
    const double begin = std::max(busy_until_, double(now.ps));
    seen_.queue_longest = std::max(seen_.queue_longest, Duration{std::int64_t(begin) - now.ps});
    busy_until_ = begin + bytes * ps_per_byte_;
    seen_.bytes.count += std::int64_t(bytes);
    ++seen_.packets;
    return Instant{std::llround(busy_until_)} + latency_;
  }

  [[nodiscard]] bool empty() const { return first_ == last_; }
  [[nodiscard]] const InFlight& front() const { return ring_[first_ & (ring_.size() - 1)]; }
  void pop() { ++first_; }
  void push(const InFlight& item) {
    if (last_ - first_ == ring_.size()) grow();
    ring_[last_++ & (ring_.size() - 1)] = item;
  }
  [[nodiscard]] LaneOutcome& seen() { return seen_; }
  [[nodiscard]] const LaneOutcome& seen() const { return seen_; }

 private:
  void grow() {
    std::vector<InFlight> larger(2 * ring_.size());
    for (std::size_t i = first_; i != last_; ++i)
      larger[i & (larger.size() - 1)] = ring_[i & (ring_.size() - 1)];
    ring_.swap(larger);
  }

  double ps_per_byte_;
  Duration latency_;
  double busy_until_ = 0;       // picoseconds; a packet's time may be a fraction of one
  std::vector<InFlight> ring_;  // a power of two
  std::size_t first_ = 0, last_ = 0;
  LaneOutcome seen_;
};

}  // namespace cotillion
