// A UDP socket that knows multicast: bound, joined, sized and never blocking. What the kernel
// refuses is an Error with the call, the interface and what to do about it.
#pragma once

#include <netinet/in.h>

#include <string>
#include <utility>

#include "base/result.hpp"
#include "base/units.hpp"
#include "protocol/address.hpp"

namespace cotillion {

struct Endpoint {
  Ipv4Address address = 0;
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
[[nodiscard]] std::string to_text(const Endpoint& endpoint);  // "10.0.0.1:29900"
[[nodiscard]] sockaddr_in to_sockaddr(const Endpoint& endpoint);
[[nodiscard]] Endpoint to_endpoint(const sockaddr_in& address);
// "10.0.0.1", or why it is none.
[[nodiscard]] Result<Ipv4Address> read_address(const std::string& text);

struct UdpSettings {
  Endpoint bind;              // address 0: any, which a socket that hears groups needs; port 0: any
  Ipv4Address interface = 0;  // by its own address: where groups are heard and multicast leaves
  int ttl = 32;               // of multicast: more than any path has hops
  bool loop = true;           // listeners on this machine hear it too
  bool shared = false;        // several sockets may hear the same groups at this port
  bool coalesce = true;       // UDP_GRO: runs of equal packets come as one
  Bytes receive_buffer{16 << 20};
  Bytes send_buffer{4 << 20};
};

class UdpSocket {
 public:
  [[nodiscard]] static Result<UdpSocket> open(const UdpSettings& settings);
  UdpSocket(UdpSocket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), interface_(other.interface_) {}
  UdpSocket& operator=(UdpSocket&& other) noexcept;
  ~UdpSocket();

  // The group that is heard from now on: what this source sends to it, as source-specific multicast
  // has it; source 0: what anybody does.
  [[nodiscard]] Result<Ipv4Address> join(Ipv4Address group, Ipv4Address source = 0) const;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] Endpoint local() const;
  // What the kernel granted; without privilege it may be less than was asked for.
  [[nodiscard]] Bytes receive_buffer() const;
  // Packets that came while that was full, since the socket was opened; modulo 2³².
  [[nodiscard]] std::uint32_t overflows() const;

 private:
  UdpSocket(int fd, Ipv4Address interface) : fd_(fd), interface_(interface) {}
  [[nodiscard]] Result<Endpoint> set_up(const UdpSettings& settings) const;

  int fd_;
  Ipv4Address interface_;
};

}  // namespace cotillion
