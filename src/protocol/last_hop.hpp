// What an edge knows of the way to its island: its rate, and all that it sent there itself. Sums go
// out at once, as ever. What the island asks for again goes when few packets are ahead of it, or
// when enough others have gone before it. On a last hop that sums fill, more would make them late,
// what is late is asked for again, and the hop would carry little else.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/units.hpp"

namespace cotillion {

class LastHop {
 public:
  // No rate: unknown, and there is always room. A packet counts as the longest one, on the wire.
  LastHop(BitsPerSecond rate, Bytes packet)
      : packet_{rate.value > 0 ? std::llround(transfer_time(packet, rate).ps) : 0} {}

  void send_first(Instant now) {
    send(now);
    sums_ = std::min(sums_ + 1, kAhead * kSumsBefore);
  }
  // Requires that it may go.
  void send_again(Instant now) {
    if (!has_room(now)) sums_ -= kSumsBefore;
    send(now);
  }
  [[nodiscard]] bool lets_repeats_go(Instant now) const {
    return has_room(now) || sums_ >= kSumsBefore;
  }
  // When they may go without any sum before them.
  [[nodiscard]] Instant room_at() const { return clear_at_ - Duration{kAhead * packet_.ps}; }

 private:
  static constexpr std::int64_t kAhead = 8;       // packets
  static constexpr std::int64_t kSumsBefore = 4;  // each repeat that finds no room

  [[nodiscard]] bool has_room(Instant now) const {
    return room_at() <= now || now < sent_at_;  // hosts' clocks may step back
  }
  void send(Instant now) {
    clear_at_ = (now < sent_at_ ? now : std::max(clear_at_, now)) + packet_;
    sent_at_ = now;
  }

  Duration packet_;
  Instant sent_at_{0};
  Instant clear_at_{0};    // all that was sent has left by then
  std::int64_t sums_ = 0;  // that repeats may still go behind
};

}  // namespace cotillion
