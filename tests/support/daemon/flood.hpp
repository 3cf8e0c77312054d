// Ten thousand small packets a second of every bad kind, on an edge's groups and to its address for
// requests: random, truncated, forged and replayed ones.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "base/random.hpp"
#include "tests/support/daemon/loopback_rig.hpp"

namespace cotillion::testing {

class Flood {
 public:
  Flood(LoopbackRig& rig, std::vector<std::vector<std::byte>> heard)
      : rig_(rig), heard_(std::move(heard)), thread_([this] { run(); }) {}
  ~Flood() { stop(); }
  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  void run() {
    Random random(5);
    const UdpSocket socket = loopback_socket();
    SendBatch out(socket);
    const Endpoint requests = rig_.host().own(0);
    auto next = std::chrono::steady_clock::now();
    while (!stopping_) {
      for (int i = 0; i < 10; ++i) {
        const auto sender = int(random.between(0, kReceiving - 1));
        const Endpoint to = random.between(0, 3) == 0 ? requests : rig_.group(sender);
        out.add_copy(to, bad_packet(random));
      }
      out.flush();
      sent_ += 10;
      next += std::chrono::milliseconds(1);
      std::this_thread::sleep_until(next);
    }
  }

  ByteView bad_packet(Random& random) {
    const std::vector<std::byte>& real =
        heard_[std::size_t(random.between(0, std::int64_t(heard_.size()) - 1))];
    packet_ = real;
    switch (random.between(0, 3)) {
      case 0:  // anything
        packet_.resize(std::size_t(random.between(1, 128)));
        for (std::byte& byte : packet_) byte = std::byte(random.next());
        break;
      case 1:  // truncated
        packet_.resize(std::size_t(random.between(1, 128)));
        break;
      case 2:  // forged: a chunk of zeros in another's name
        packet_.resize(packet_bytes(0));
        packet_[offsetof(Header, flags)] |= std::byte(flag::kZero);
        packet_[8] = std::byte(random.next() % 64);
        break;
      default:  // played again
        break;
    }
    return packet_;
  }

  LoopbackRig& rig_;
  std::vector<std::vector<std::byte>> heard_;
  std::vector<std::byte> packet_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> sent_{0};
  std::thread thread_;
};

}  // namespace cotillion::testing
