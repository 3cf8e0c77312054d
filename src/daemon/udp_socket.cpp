#include "daemon/udp_socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/sock_diag.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace cotillion {
namespace {

std::string remedy_for(const std::string& call, int error) {
  if (error == EADDRINUSE) return "another program holds this port; stop it or choose another port";
  if (error == EADDRNOTAVAIL) return "no interface of this machine has this address";
  if (error == ENODEV) return "no interface of this machine has the address given for multicast";
  if (error == ENOBUFS && call.starts_with("join"))
    return "a socket may join few groups by default; raise net.ipv4.igmp_max_memberships";
  if (error == EMFILE || error == ENFILE) return "too many open files; raise ulimit -n";
  if (error == EACCES || error == EPERM) return "not permitted for this user";
  return "";
}

Unexpected<Error> udp_refused(const std::string& call, const std::string& where, int error) {
  const std::string remedy = remedy_for(call, error);
  return failure(fmt::format("{} on {}: {}{}{}", call, where, std::strerror(error),
                             remedy.empty() ? "" : "; ", remedy));
}

template <class Value>
bool set(int fd, int level, int option, const Value& value) {
  return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

// Privileged sockets may go beyond net.core.rmem_max.
void size_buffer(int fd, int force, int plain, Bytes bytes) {
  const int size = int(std::min<std::int64_t>(bytes.count, INT32_MAX / 2));
  if (!set(fd, SOL_SOCKET, force, size)) (void)set(fd, SOL_SOCKET, plain, size);
}

}  // namespace

std::string to_text(const Endpoint& endpoint) {
  return fmt::format("{}:{}", to_text(endpoint.address), endpoint.port);
}

sockaddr_in to_sockaddr(const Endpoint& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(endpoint.address);
  address.sin_port = htons(endpoint.port);
  return address;
}

Endpoint to_endpoint(const sockaddr_in& address) {
  return {ntohl(address.sin_addr.s_addr), ntohs(address.sin_port)};
}

Result<Ipv4Address> read_address(const std::string& text) {
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) != 1)
    return failure(fmt::format("\"{}\" is no IPv4 address; write it like 10.0.0.1", text));
  return ntohl(address.s_addr);
}

Result<UdpSocket> UdpSocket::open(const UdpSettings& settings) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return udp_refused("socket", to_text(settings.bind), errno);
  UdpSocket opened(fd, settings.interface);
  if (const auto done = opened.set_up(settings); !done) return Unexpected<Error>{done.error()};
  return opened;
}

Result<Endpoint> UdpSocket::set_up(const UdpSettings& settings) const {
  const std::string where = to_text(settings.bind);
  const int on = 1, off = 0;
  if (settings.shared && !set(fd_, SOL_SOCKET, SO_REUSEADDR, on))
    return udp_refused("SO_REUSEADDR", where, errno);
  // Only groups that this socket joined, not those of everyone on this machine; and which one.
  if (!set(fd_, IPPROTO_IP, IP_MULTICAST_ALL, off))
    return udp_refused("IP_MULTICAST_ALL", where, errno);
  if (!set(fd_, IPPROTO_IP, IP_PKTINFO, on)) return udp_refused("IP_PKTINFO", where, errno);
  // A packet is one datagram and is never cut up on the way.
  if (const int never = IP_PMTUDISC_DO; !set(fd_, IPPROTO_IP, IP_MTU_DISCOVER, never))
    return udp_refused("IP_MTU_DISCOVER", where, errno);
  if (settings.interface != 0) {
    ip_mreqn interface {};
    interface.imr_address.s_addr = htonl(settings.interface);
    if (!set(fd_, IPPROTO_IP, IP_MULTICAST_IF, interface))
      return udp_refused("IP_MULTICAST_IF", to_text(settings.interface), errno);
  }
  const int loop = settings.loop ? 1 : 0;
  if (!set(fd_, IPPROTO_IP, IP_MULTICAST_TTL, settings.ttl) ||
      !set(fd_, IPPROTO_IP, IP_MULTICAST_LOOP, loop))
    return udp_refused("IP_MULTICAST_TTL and _LOOP", where, errno);
  if (settings.coalesce && !set(fd_, IPPROTO_UDP, UDP_GRO, on))
    return udp_refused("UDP_GRO", where, errno);
  size_buffer(fd_, SO_RCVBUFFORCE, SO_RCVBUF, settings.receive_buffer);
  size_buffer(fd_, SO_SNDBUFFORCE, SO_SNDBUF, settings.send_buffer);

  const sockaddr_in address = to_sockaddr(settings.bind);
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return udp_refused("bind", where, errno);
  return local();
}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(interface_, other.interface_);
  return *this;
}

UdpSocket::~UdpSocket() {
  if (fd_ >= 0) close(fd_);
}

Result<Ipv4Address> UdpSocket::join(Ipv4Address group, Ipv4Address source) const {
  if (source != 0) {
    ip_mreq_source membership{};
    membership.imr_multiaddr.s_addr = htonl(group);
    membership.imr_interface.s_addr = htonl(interface_);
    membership.imr_sourceaddr.s_addr = htonl(source);
    if (!set(fd_, IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP, membership))
      return udp_refused(fmt::format("join {} from {}", to_text(group), to_text(source)),
                         to_text(interface_), errno);
    return group;
  }
  ip_mreqn membership{};
  membership.imr_multiaddr.s_addr = htonl(group);
  membership.imr_address.s_addr = htonl(interface_);
  if (!set(fd_, IPPROTO_IP, IP_ADD_MEMBERSHIP, membership))
    return udp_refused(fmt::format("join {}", to_text(group)), to_text(interface_), errno);
  return group;
}

Endpoint UdpSocket::local() const {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  COTILLION_CHECK(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  return to_endpoint(address);
}

Bytes UdpSocket::receive_buffer() const {
  int size = 0;
  socklen_t length = sizeof size;
  COTILLION_CHECK(getsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0);
  return {size};
}

std::uint32_t UdpSocket::overflows() const {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t length = sizeof memory;
  (void)getsockopt(fd_, SOL_SOCKET, SO_MEMINFO, memory.data(), &length);
  return memory[SK_MEMINFO_DROPS];
}

}  // namespace cotillion
