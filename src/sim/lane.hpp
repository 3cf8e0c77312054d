// One direction of a link: packets leave it in the order in which they came, each as long after
// the one before as its bytes take.
#pragma once

#include <algorithm>
#include <cmath>

#include "job/outcome.hpp"
#include "sim/in_flight.hpp"

namespace cotillion {

class Lane {
 public:
  Lane(LaneId id, BitsPerSecond rate, Duration latency, InFlightBlocks& blocks)
      : ps_per_byte_(ps_per_byte(rate)), latency_(latency), queue_(blocks) {
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

  [[nodiscard]] InFlightQueue& queue() { return queue_; }
  [[nodiscard]] Duration latency() const { return latency_; }
  [[nodiscard]] LaneOutcome& seen() { return seen_; }
  [[nodiscard]] const LaneOutcome& seen() const { return seen_; }

 private:
  double ps_per_byte_;
  Duration latency_;
  double busy_until_ = 0;  // picoseconds; a packet's time may be a fraction of one
  InFlightQueue queue_;
  LaneOutcome seen_;
};

}  // namespace cotillion
