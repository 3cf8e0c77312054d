// Listeners that note when packets came, by the kernel's own clock for each: how busy the thread
// that collects them is does not matter. Probes carry who sent them when.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "daemon/udp_socket.hpp"
#include "daemon/wakeup.hpp"

namespace cotillion {

// What a probe carries where packets of a job have weights. It is a DATA packet for everyone on the
// way, so that it counts on the wire as these do.
struct ProbeMark {
  std::int64_t sent_ns = 0;    // CLOCK_REALTIME
  std::uint32_t stream = 0;    // the sender's number for what this belongs to
  std::uint32_t sequence = 0;  // within it
};
// A packet with that much payload. The mark is written when it is sent.
[[nodiscard]] std::vector<std::byte> probe_packet(std::size_t payload);
// Stamps it with the time and sends it; false where the kernel would not.
[[nodiscard]] bool send_probe(const UdpSocket& socket, const Endpoint& to,
                              std::vector<std::byte>& packet, ProbeMark mark);

struct Heard {
  int receiver = 0;
  ProbeMark mark;
  std::int64_t came_ns = 0;  // CLOCK_REALTIME, when it left the wire
};

class ProbeReceivers {
 public:
  ProbeReceivers() = default;
  ProbeReceivers(const ProbeReceivers&) = delete;
  ProbeReceivers& operator=(const ProbeReceivers&) = delete;
  ~ProbeReceivers() { (void)stop(); }

  // The number of the new receiver. Only before start().
  [[nodiscard]] Result<int> add(UdpSocket socket);
  [[nodiscard]] const UdpSocket& socket(int receiver) const {
    return sockets_[std::size_t(receiver)];
  }

  // Room for that many without asking for memory.
  void start(std::size_t expected);
  [[nodiscard]] std::size_t heard_so_far() const { return count_; }
  [[nodiscard]] std::vector<Heard> stop();

 private:
  void listen();
  void drain(int receiver);

  std::vector<UdpSocket> sockets_;
  std::vector<Heard> heard_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> leaving_{false};
  Wakeup wakeup_;
  std::thread thread_;
};

}  // namespace cotillion
