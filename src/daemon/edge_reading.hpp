// What an edge daemon has counted, as another thread may read it at any time. The thread that
// counts owns plain words; now and then it copies them into atomics, one by one. A reading is
// therefore a moment old, and its numbers may be from either side of one packet.
#pragma once

#include <atomic>

#include "protocol/counters.hpp"

namespace cotillion {

enum class HostCount : std::uint8_t {
  kPackets,        // heard, on groups and as requests
  kBytes,          // of these
  kPieces,         // in which they came: coalesced runs count once
  kBatches,        // calls that brought them
  kDirect,         // packets of them that came by AF_XDP
  kOverflowed,     // packets that the kernel had no room to keep for us
  kRequests,       // packets from the island
  kStrangers,      // to no group of ours, or from nobody we know
  kTruncated,      // longer than any packet
  kMalformed,      // no packet of this protocol
  kForeign,        // of a job that is not served here
  kSent,           // packets
  kSentBytes,      // of these
  kUnsent,         // the socket had no room, or nobody to send to
  kInjected,       // packets that an injector lost, doubled, delayed or damaged
  kRoundsOpened,   // as told
  kRoundsRefused,  // told in a way that makes no sense: in no order, of no job
  kOpenSlots,      // now
  kOpenSlotsPeak,
  kResendOverruns,  // packets overwritten before t_resend
  kCount
};
inline constexpr std::size_t kHostCounts = std::size_t(HostCount::kCount);
[[nodiscard]] const char* name_of(HostCount count);  // "rounds_refused"
using HostCounters = Counters<HostCount, kHostCounts>;

struct EdgeReading {
  HostCounters host;
  EdgeCounters edge;

  void add(const EdgeReading& other) {
    host.add(other.host);
    edge.add(other.edge);
  }
  [[nodiscard]] std::uint64_t operator[](HostCount count) const { return host[count]; }
  [[nodiscard]] std::uint64_t operator[](EdgeCount count) const { return edge[count]; }
};

class PublishedReading {
 public:
  // By the thread that counts.
  void publish(const EdgeReading& reading) {
    for (std::size_t i = 0; i < kHostCounts; ++i)
      host_[i].store(reading.host[HostCount(i)], std::memory_order_relaxed);
    for (std::size_t i = 0; i < kEdgeCounts; ++i)
      edge_[i].store(reading.edge[EdgeCount(i)], std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t read(HostCount count) const {
    return host_[std::size_t(count)].load(std::memory_order_relaxed);
  }
  // By any.
  [[nodiscard]] EdgeReading read() const {
    EdgeReading reading;
    for (std::size_t i = 0; i < kHostCounts; ++i)
      reading.host.add(HostCount(i), host_[i].load(std::memory_order_relaxed));
    for (std::size_t i = 0; i < kEdgeCounts; ++i)
      reading.edge.add(EdgeCount(i), edge_[i].load(std::memory_order_relaxed));
    return reading;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kHostCounts> host_{};
  std::array<std::atomic<std::uint64_t>, kEdgeCounts> edge_{};
};

}  // namespace cotillion
