// AF_XDP: frames from the driver past the kernel's network stack, for machines whose driver has it.
// A small program on the interface takes the UDP packets of our groups at our port out of the
// stream of frames and leaves everything else, so joining groups stays the business of a
// UdpSocket. Frames are copied once, by the driver, and read in place.
#pragma once

#include <memory>
#include <vector>

#include "daemon/receive_batch.hpp"

namespace cotillion {

struct XdpSettings {
  Ipv4Address interface = 0;  // by its address
  int queue = 0;              // of the interface; frames that arrive on others go the usual way
  std::uint16_t port = 0;
  std::uint32_t frames = 8192;  // of 4 KB, under way or being read; a power of two
  int batch = 512;              // read at once
};

class XdpSocket {
 public:
  // Needs CAP_NET_ADMIN, CAP_BPF and an MTU that fits into a page with the driver's headroom.
  [[nodiscard]] static Result<XdpSocket> open(const XdpSettings& settings);
  XdpSocket(XdpSocket&&) noexcept;
  XdpSocket& operator=(XdpSocket&&) = delete;
  ~XdpSocket();

  // As ReceiveBatch: how many packets came, without waiting; the last ones are given back.
  [[nodiscard]] int receive();
  [[nodiscard]] int capacity() const { return int(heard_pieces_.size()); }
  [[nodiscard]] const HeardPiece& operator[](int i) const { return heard_pieces_[std::size_t(i)]; }
  [[nodiscard]] int fd() const;

 private:
  struct Rings;
  explicit XdpSocket(const XdpSettings& settings);
  [[nodiscard]] Result<int> set_up(const XdpSettings& settings);

  std::unique_ptr<Rings> rings_;
  std::vector<HeardPiece> heard_pieces_;
};

// The packet in an Ethernet frame to a UDP port; empty bytes for any other frame. Exposed for
// tests: nobody else has checked the lengths in it.
[[nodiscard]] HeardPiece packet_in(ByteView frame);

}  // namespace cotillion
