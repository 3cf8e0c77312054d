// One edge's input on a real network: a path between two addresses, a sender that copies whole
// rounds of sealed packets into the kernel, and a plain sink that reads them and looks at nothing,
// which is what an edge is measured against.
#pragma once

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>

#include <netinet/udp.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <thread>
#include <vector>

#include "daemon/receive_batch.hpp"
#include "daemon/udp_socket.hpp"
#include "protocol/job.hpp"
#include "protocol/packet.hpp"
#include "protocol/seal.hpp"

namespace cotillion::testing {

inline constexpr int kContributors = 4;
inline constexpr JobId kJob = 3;
inline constexpr int kSenderCore = 0, kReaderCore = 1;

inline double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

inline void pin(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(unsigned(core), &cores);
  (void)sched_setaffinity(0, sizeof cores, &cores);
}

template <class Value>
Value must(Result<Value> result) {
  if (!result) {
    fmt::print("{}\n", result.error().message);
    std::exit(1);
  }
  return std::move(*result);
}

struct EdgePath {
  const char* name;
  Ipv4Address from, to;  // interfaces, by address
  bool direct = false;   // AF_XDP
};

// Reads and forgets.
class EdgeSink {
 public:
  EdgeSink(const EdgePath& path, std::uint16_t port, Duration spin) : spin_(spin) {
    UdpSettings settings;
    settings.bind.port = port;
    settings.interface = path.to;
    settings.receive_buffer = {64 << 20};
    socket_.emplace(must(UdpSocket::open(settings)));
    for (int i = 0; i < kContributors; ++i) (void)must(socket_->join(group_address(i, 0)));
    thread_ = std::thread([this] { run(); });
  }
  ~EdgeSink() {
    stopping_ = true;
    thread_.join();
  }
  [[nodiscard]] std::uint64_t packets() const { return packets_.load(std::memory_order_relaxed); }

 private:
  void run() {
    pin(kReaderCore);
    ReceiveBatch batch(16);
    std::uint64_t packets = 0;
    double heard_at = 0;
    while (!stopping_) {
      const int came = batch.receive(*socket_);
      if (came > 0) heard_at = seconds_on(CLOCK_MONOTONIC);
      for (int i = 0; i < came; ++i)
        packets += (batch[i].bytes.size() + batch[i].segment - 1) / batch[i].segment;
      packets_.store(packets, std::memory_order_relaxed);
      pollfd watched{socket_->fd(), POLLIN, 0};
      if (came == 0 && seconds_on(CLOCK_MONOTONIC) - heard_at > RealDuration(spin_).seconds())
        (void)poll(&watched, 1, 20);
    }
  }

  Duration spin_;
  std::optional<UdpSocket> socket_;
  std::atomic<std::uint64_t> packets_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

inline Seal sealed() {
  Seal seal;
  seal.set_boot(7);
  return seal;
}

// One round of everybody's packets, in pieces that the kernel carries whole.
class EdgeStream {
 public:
  // At most `under_way` bytes are sent before they are read.
  EdgeStream(const EdgePath& path, const JobSpec& job, std::size_t under_way)
      : job_(job), under_way_(under_way) {
    UdpSettings settings;
    settings.bind.address = path.from;
    settings.interface = path.from;
    settings.loop = path.from == path.to;
    settings.send_buffer = {16 << 20};
    socket_.emplace(must(UdpSocket::open(settings)));
    stride_ = packet_bytes(payload_bytes(job));
    bytes_.resize(stride_ * chunk_count(job) * kContributors);
    for (std::size_t i = 0; i < bytes_.size() / 4; ++i) {
      const float value = float(i % 1000) * 0.001f;
      std::memcpy(bytes_.data() + i * 4, &value, 4);
    }
  }

  [[nodiscard]] std::size_t packets() const { return chunk_count(job_) * kContributors; }

  void seal_round(RoundId round) {
    for (int source = 0; source < kContributors; ++source)
      for (ChunkId chunk = 0; chunk < chunk_count(job_); ++chunk) {
        Header header;
        header.set_type(PacketType::kData);
        header.job = job_.id;
        header.round = round;
        header.chunk = chunk;
        header.sequence = round * chunk_count(job_) + chunk;
        header.mask = ContributorMask(1) << unsigned(source);
        header.weight = 1;
        header.flags = job_.element == Element::kI32 ? flag::kGrid : 0;
        header.set_content(job_.element, Operation::kSum, 0);
        const ByteSpan packet(at(source, chunk), stride_);
        write_header(header, packet);
        seal_.close(packet);
      }
  }

  // `read` says how many packets have been read since the round began; `wait` is called when as
  // much is under way as may be, and lets the reader work.
  template <class Read, class Wait>
  void send_round(std::uint16_t port, Read read, Wait wait) {
    const std::size_t run = 64'000 / stride_;
    std::size_t sent = 0;
    for (ChunkId chunk = 0; chunk < chunk_count(job_); chunk += ChunkId(run))
      for (int source = 0; source < kContributors; ++source) {
        const std::size_t count = std::min<std::size_t>(run, chunk_count(job_) - chunk);
        if ((sent - read()) * stride_ > under_way_) wait(sent);
        send(port, source, chunk, count);
        sent += count;
      }
    while (read() < sent) wait(sent);
  }
  [[nodiscard]] std::size_t stride() const { return stride_; }

 private:
  std::byte* at(int source, ChunkId chunk) {
    return &bytes_[(std::size_t(source) * chunk_count(job_) + chunk) * stride_];
  }
  void send(std::uint16_t port, int source, ChunkId chunk, std::size_t count) {
    sockaddr_in name = to_sockaddr({group_address(source, 0), port});
    iovec piece{at(source, chunk), count * stride_};
    alignas(8) std::array<std::byte, CMSG_SPACE(2)> control{};
    msghdr message{};
    message.msg_name = &name;
    message.msg_namelen = sizeof name;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = IPPROTO_UDP;
    part->cmsg_type = UDP_SEGMENT;
    part->cmsg_len = CMSG_LEN(2);
    const auto segment = std::uint16_t(stride_);
    std::memcpy(CMSG_DATA(part), &segment, 2);
    while (sendmsg(socket_->fd(), &message, 0) < 0) {
      if (errno != EAGAIN && errno != ENOBUFS) {
        fmt::print("sending: {}\n", std::strerror(errno));
        std::exit(1);
      }
    }
  }

  JobSpec job_;
  std::size_t under_way_;
  std::optional<UdpSocket> socket_;
  std::size_t stride_ = 0;
  std::vector<std::byte> bytes_;
  Seal seal_ = sealed();
};

}  // namespace cotillion::testing
