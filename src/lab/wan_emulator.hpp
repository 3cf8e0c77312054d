// All emulated links of a lab, in one thread. What a kernel sends into one end of a link is read
// there, handed to that direction's WanLink, and written into the other end when it is due; the
// thread sleeps until then, or until something comes. It counts what crosses every lane, stream by
// stream, and how late it was itself, so that its own error is not taken for the protocol's.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "daemon/pages.hpp"
#include "daemon/wakeup.hpp"
#include "lab/wan_link.hpp"
#include "protocol/address.hpp"

namespace cotillion {

struct WanEmulatorSettings {
  Bytes framing;           // as the map has it; 0: rates are goodput
  std::size_t mtu = 1500;  // of all ends
  Faults faults;
  std::uint64_t seed = 1;
  int lanes = 0;                     // of the map
  std::vector<Ipv4Address> groups;   // that are counted one by one
  int priority = 50;                 // of SCHED_FIFO, where it is allowed
  Duration least_sleep{20'000'000};  // packets due within this time of each other go together
};

struct EmulatedLink {
  std::array<int, 2> ends{-1, -1};      // of TUN interfaces, not blocking; the caller's
  std::array<WanLinkSettings, 2> ways;  // from the first end to the second, and back
};

// What one lane has carried.
struct LaneCounters {
  WanLinkCounts counts;
  ErrorHistogram lateness;
  // Packets that came to it and that left at its far end, in the order of
  // WanEmulatorSettings::groups. Faults lose and double them between the two.
  std::vector<std::uint64_t> by_group, left_by_group;
  std::uint64_t others = 0;  // packets that are no multicast, or of unknown groups
};

struct WanCounters {
  IdVector<LaneId, LaneCounters> lanes;  // those that are not emulated are empty
  std::uint64_t ignored = 0;             // what kernels send to their neighbours alone: IGMP, IPv6
  std::uint64_t refused = 0;             // that could not be written into the far end
  std::uint64_t starved = 0;             // there was no room for: the emulator's fault
  bool realtime = false;                 // SCHED_FIFO was granted
  Duration cpu{0}, wall{0};              // of the thread, since the counters were opened
  Duration stolen{0};  // from all cores, by the host of a virtual machine, meanwhile
};

class WanEmulator {
 public:
  WanEmulator(const WanEmulatorSettings& settings, const std::vector<EmulatedLink>& links);
  WanEmulator(const WanEmulator&) = delete;
  WanEmulator& operator=(const WanEmulator&) = delete;
  ~WanEmulator();

  // New counters. The faults' time counts from `start` from now; before that nothing goes wrong.
  void open_counters(Duration start = Duration{INT64_MAX / 4});
  [[nodiscard]] WanCounters counters();

 private:
  enum Request : int { kNothing, kOpenCounters, kShowCounters };
  struct Direction {
    int in = -1, out = -1;
    WanLink link;
    LaneCounters* counters = nullptr;
  };

  void live();
  [[nodiscard]] bool emit_due();
  [[nodiscard]] bool read_ready();
  void take_in(Direction& direction, Instant now, PacketSlot slot, std::size_t bytes);
  void wait();
  void serve();
  void ask(Request request);
  [[nodiscard]] ByteSpan room(PacketSlot slot);
  void release(PacketSlot slot);
  [[nodiscard]] Instant next_due() const;

  WanEmulatorSettings settings_;
  FaultDice dice_;
  std::vector<Direction> directions_;
  WanCounters counters_;
  Pages pages_;
  std::vector<std::uint32_t> lengths_;  // by slot
  std::vector<std::size_t> streams_;    // by slot: which of the groups, or as many as there are
  std::vector<PacketSlot> free_;
  int poll_ = -1;
  Instant origin_{INT64_MAX / 2};
  Instant opened_{0};
  Duration cpu_before_{0};
  Duration start_{0};  // operand of kOpenCounters
  Duration stolen_before_{0};
  WanCounters shown_;  // answer of kShowCounters
  std::atomic<int> request_{kNothing};
  std::atomic<bool> leaving_{false};
  Wakeup wakeup_;
  std::thread thread_;
};

}  // namespace cotillion
