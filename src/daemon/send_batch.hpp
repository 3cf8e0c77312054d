// Many datagrams with one call: sendmmsg, and with UDP_SEGMENT a run of equal packets to one
// address as one piece, which the kernel carries whole as far as it can. Packets are sent from
// where they lie; only those that will not stay are copied.
#pragma once

#include <sys/socket.h>

#include <array>
#include <vector>

#include "daemon/pages.hpp"
#include "daemon/udp_socket.hpp"

namespace cotillion {

struct SendCounts {
  std::uint64_t packets = 0, bytes = 0;
  std::uint64_t dropped = 0;  // packets that the kernel had no room for, or refused
};

class SendBatch {
 public:
  // At most `packets` wait at a time; one more is sent only after these.
  explicit SendBatch(const UdpSocket& socket, std::size_t packets = 256);

  // The bytes must stay as they are until they are flushed.
  void add(const Endpoint& to, ByteView packet);
  void add_copy(const Endpoint& to, ByteView packet);
  // Tries for about a millisecond at most when the socket is full, then drops: a late packet would
  // delay all behind it, and receivers ask again.
  void flush();

  [[nodiscard]] std::size_t waiting() const { return pieces_.size(); }
  [[nodiscard]] const SendCounts& counts() const { return counts_; }

 private:
  struct alignas(8) Control {
    std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))> bytes;
  };
  struct Run {
    Endpoint to;
    std::size_t first = 0, pieces = 0;  // of pieces_
    std::size_t segment = 0, bytes = 0;
    bool closed = false;  // its last packet is shorter
  };
  [[nodiscard]] bool joins(const Run& run, const Endpoint& to, std::size_t bytes) const;
  void lay_out();
  [[nodiscard]] std::size_t send_from(std::size_t run);
  void send_apart(const Run& run);

  const UdpSocket& socket_;
  std::size_t capacity_;
  std::vector<iovec> pieces_;
  std::vector<Run> runs_;
  std::vector<mmsghdr> messages_;
  std::vector<sockaddr_in> names_;
  std::vector<Control> controls_;
  Pages copies_;
  std::size_t copied_ = 0;  // bytes of copies_
  bool segments_ = true;    // the kernel cuts up runs; not on every path
  SendCounts counts_;
};

}  // namespace cotillion
