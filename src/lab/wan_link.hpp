// One direction of an emulated link: a packet waits until the link has sent those before it, takes
// as long as its bytes at the link's rate, and arrives a latency later. A queue that is too long
// drops what comes (its tail); faults lose, delay, double and spoil the rest. No I/O and no clock:
// whoever has packets and the time hosts it, and tells it when packets really left.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "job/fault_dice.hpp"
#include "lab/error_histogram.hpp"
#include "topology/map.hpp"

namespace cotillion {

struct WanLinkSettings {
  LaneId lane = 0;
  BitsPerSecond rate;
  Duration latency;
  Duration queue;            // the longest wait for those before; longer ones are dropped
  std::size_t packets = 64;  // at most under way, the queue included
};

// The host's number of a packet.
using PacketSlot = std::uint32_t;

struct WanLinkCounts {
  std::uint64_t packets = 0, bytes = 0;            // that were taken, lost ones included
  std::uint64_t dropped = 0;                       // the queue was full
  std::uint64_t overflowed = 0;                    // more packets under way than there is room for
  std::uint64_t lost = 0, copied = 0, spoilt = 0;  // by faults
  Duration queue_longest{0};
};

class WanLink {
 public:
  // Without dice nothing goes wrong. They are shared by all links and must outlive them.
  explicit WanLink(const WanLinkSettings& settings, FaultDice* dice = nullptr);

  // What becomes of a packet that enters now. Where it is not taken, its slot is the host's again.
  struct Fortune {
    bool taken = false;
    bool corrupt = false, truncated = false;
    std::optional<Instant> copy_due;  // arrives again then: put() a copy of it
  };
  [[nodiscard]] Fortune enter(Instant now, std::uint32_t wire_bytes, PacketSlot slot,
                              Duration since_start = Duration{-1});
  // A copy, which takes no time on the wire. False where there is no room.
  [[nodiscard]] bool put(Instant due, PacketSlot slot);

  // When the next packet arrives at the other end; kNever where none is under way.
  [[nodiscard]] Instant next_due() const;
  struct Due {
    PacketSlot slot = 0;
    Instant due;
  };
  // The packet that is due first, if it is due by now.
  [[nodiscard]] std::optional<Due> take(Instant now);
  void note_emission(Instant due, Instant emitted) { lateness_.add(emitted - due); }

  [[nodiscard]] const WanLinkSettings& settings() const { return settings_; }
  [[nodiscard]] const WanLinkCounts& counts() const { return counts_; }
  // Planned against real emission: the emulator's own error.
  [[nodiscard]] const ErrorHistogram& lateness() const { return lateness_; }
  void clear_counts();

 private:
  [[nodiscard]] bool has_room() const { return last_ - first_ + strays_.size() < limit_; }

  WanLinkSettings settings_;
  FaultDice* dice_;
  double ps_per_byte_;
  double busy_until_ = 0;  // picoseconds; a packet's time may be a fraction of one
  Instant last_due_{INT64_MIN};
  std::size_t limit_;
  std::vector<Due> ring_;  // in order; a power of two
  std::size_t first_ = 0, last_ = 0;
  std::vector<Due> strays_;  // out of order: a heap, soonest first
  WanLinkCounts counts_;
  ErrorHistogram lateness_;
};

}  // namespace cotillion
