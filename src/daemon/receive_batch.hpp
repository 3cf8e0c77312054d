// Many datagrams with one call: recvmmsg into buffers that are allocated once. With UDP_GRO the
// kernel hands over runs of equal packets as one piece; they are kept whole and read in place.
#pragma once

#include <sys/socket.h>

#include <array>
#include <memory>
#include <vector>

#include "daemon/pages.hpp"
#include "daemon/udp_socket.hpp"

namespace cotillion {

// Packets of one length (the last may be shorter) from one sender to one address.
struct HeardPiece {
  Endpoint from;
  Ipv4Address to = 0;  // the group, or our own address
  ByteView bytes;
  std::size_t segment = 1;  // bytes of each packet
  bool truncated = false;   // longer than any packet of ours: to be dropped whole
};

class ReceiveBatch {
 public:
  // Sixteen pieces of 64 KB stay in the cache between the kernel's copy and their reader.
  explicit ReceiveBatch(int messages = 16);

  // How many pieces came, without waiting. Errors of a datagram socket concern packets sent
  // earlier, so they count as nothing.
  [[nodiscard]] int receive(const UdpSocket& socket);
  [[nodiscard]] int capacity() const { return int(messages_.size()); }
  [[nodiscard]] const HeardPiece& operator[](int i) const { return heard_pieces_[std::size_t(i)]; }

 private:
  struct alignas(8) Control {
    std::array<std::byte, 64> bytes;  // IP_PKTINFO and UDP_GRO
  };
  static_assert(sizeof(Control) >= CMSG_SPACE(sizeof(in_pktinfo)) + CMSG_SPACE(sizeof(int)));
  void arm(std::size_t i);
  void read(std::size_t i);

  Pages buffers_;
  std::vector<mmsghdr> messages_;
  std::vector<iovec> pieces_;
  std::vector<sockaddr_in> names_;
  std::vector<Control> controls_;
  std::vector<HeardPiece> heard_pieces_;
  std::size_t used_;  // messages that a call has written to
};

// Calls visit(packet, next): the packets of a piece in order, and the one after each (empty at the
// end), so that a reader can look ahead.
template <class Visit>
void for_each_packet(const HeardPiece& arrival, ByteView after, Visit visit) {
  ByteView rest = arrival.bytes;
  while (!rest.empty()) {
    const ByteView packet = rest.first(std::min(arrival.segment, rest.size()));
    rest = rest.subspan(packet.size());
    visit(packet, rest.empty() ? after : rest.first(std::min(arrival.segment, rest.size())));
  }
}

}  // namespace cotillion
