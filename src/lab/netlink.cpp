#include "lab/netlink.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>
// Behind the C library's own header, whose part it then leaves out.
#include <linux/if.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.hpp"

namespace cotillion {
namespace {

constexpr int kWireQueue = 1000;
constexpr std::size_t kAnswerBytes = 16'384;

// A netlink message while it is written: a header of its kind, then attributes, which may nest.
class Message {
 public:
  // A change is acknowledged, a question is answered.
  static constexpr int kAnswered = 0;
  static constexpr int kChanged = NLM_F_ACK;
  template <class Head>
  Message(int type, const Head& head, int flags) {
    nlmsghdr start{};
    start.nlmsg_type = std::uint16_t(type);
    start.nlmsg_flags = std::uint16_t(NLM_F_REQUEST | flags);
    append(&start, sizeof start);
    append(&head, sizeof head);
  }

  void add(int type, const void* data, std::size_t size) {
    rtattr attribute{};
    attribute.rta_type = std::uint16_t(type);
    attribute.rta_len = std::uint16_t(RTA_LENGTH(size));
    append(&attribute, sizeof attribute);
    append(data, size);
  }
  void add(int type, const std::string& text) { add(type, text.c_str(), text.size() + 1); }
  template <class Number>
  void add_number(int type, Number number) {
    add(type, &number, sizeof number);
  }
  [[nodiscard]] std::size_t begin(int type) {
    const std::size_t at = bytes_.size();
    add(type, nullptr, 0);
    return at;
  }
  void end(std::size_t at) {
    COTILLION_CHECK(at + sizeof(rtattr) <= bytes_.size() && bytes_.size() - at <= UINT16_MAX);
    const auto size = std::uint16_t(bytes_.size() - at);
    std::memcpy(bytes_.data() + at, &size, sizeof size);  // rta_len comes first
  }
  void append(const void* data, std::size_t size) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + NLMSG_ALIGN(size));
    if (size > 0) std::memcpy(bytes_.data() + at, data, size);
  }
  [[nodiscard]] const std::vector<std::byte>& done() {
    const auto size = std::uint32_t(bytes_.size());
    std::memcpy(bytes_.data(), &size, sizeof size);
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

Result<unsigned> index_of(const std::string& interface) {
  const unsigned index = ::if_nametoindex(interface.c_str());
  if (index == 0) return failure(fmt::format("there is no interface '{}'", interface));
  return index;
}

}  // namespace

Result<Netlink> Netlink::open() {
  Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.is_open()) return failure(fmt::format("no netlink socket: {}", std::strerror(errno)));
  return Netlink(std::move(socket));
}

Result<std::vector<std::byte>> Netlink::converse(const std::vector<std::byte>& request,
                                                 const std::string& what) {
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(socket_.get(), request.data(), request.size(), 0,
               reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) < 0)
    return failure(fmt::format("{}: {}", what, std::strerror(errno)));
  std::vector<std::byte> answer(kAnswerBytes);
  ssize_t got = 0;
  do {
    got = ::recv(socket_.get(), answer.data(), answer.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < ssize_t(sizeof(nlmsghdr) + sizeof(nlmsgerr)))
    return failure(fmt::format("{}: no answer from the kernel", what));
  answer.resize(std::size_t(got));
  nlmsghdr head{};
  std::memcpy(&head, answer.data(), sizeof head);
  nlmsgerr error{};
  if (head.nlmsg_type == NLMSG_ERROR)
    std::memcpy(&error, answer.data() + sizeof head, sizeof error);
  if (error.error != 0) return failure(fmt::format("{}: {}", what, std::strerror(-error.error)));
  return answer;
}

Result<void> Netlink::ask(const std::vector<std::byte>& request, const std::string& what) {
  const auto answer = converse(request, what);
  if (!answer) return Unexpected<Error>{answer.error()};
  return {};
}

Result<bool> Netlink::carries(const std::string& interface) {
  const auto index = index_of(interface);
  if (!index) return Unexpected<Error>{index.error()};
  ifinfomsg wanted{};
  wanted.ifi_family = AF_UNSPEC;
  wanted.ifi_index = int(*index);
  Message message(RTM_GETLINK, wanted, Message::kAnswered);
  const auto answer = converse(message.done(), fmt::format("state of '{}'", interface));
  if (!answer) return Unexpected<Error>{answer.error()};
  for (std::size_t at = NLMSG_ALIGN(sizeof(nlmsghdr)) + NLMSG_ALIGN(sizeof(ifinfomsg));
       at + sizeof(rtattr) <= answer->size();) {
    rtattr attribute{};
    std::memcpy(&attribute, answer->data() + at, sizeof attribute);
    if (attribute.rta_len < sizeof attribute) break;
    if (attribute.rta_type == IFLA_OPERSTATE && at + sizeof attribute < answer->size())
      return (*answer)[at + sizeof attribute] == std::byte(IF_OPER_UP);
    at += RTA_ALIGN(attribute.rta_len);
  }
  return false;
}

Result<void> Netlink::add_wire(const End& one, const End& other, int mtu) {
  COTILLION_CHECK(one.interface.size() < IFNAMSIZ && other.interface.size() < IFNAMSIZ);
  // Locally administered; the same at both ends, and no other interface ever sees it.
  const std::array<std::uint8_t, 6> address{0x02, 0, 0, 0, 0, 1};
  const auto describe = [&](Message& message, const End& end) {
    message.add(IFLA_IFNAME, end.interface);
    message.add_number(IFLA_NET_NS_FD, std::uint32_t(end.space));
    message.add(IFLA_ADDRESS, address.data(), address.size());
    message.add_number(IFLA_MTU, std::uint32_t(mtu));
    message.add_number(IFLA_TXQLEN, std::uint32_t(kWireQueue));
  };
  ifinfomsg head{};
  head.ifi_family = AF_UNSPEC;
  head.ifi_flags = IFF_NOARP;
  head.ifi_change = IFF_NOARP;
  Message message(RTM_NEWLINK, head, Message::kChanged | NLM_F_CREATE | NLM_F_EXCL);
  describe(message, one);
  const std::size_t info = message.begin(IFLA_LINKINFO);
  message.add(IFLA_INFO_KIND, "veth", 4);
  const std::size_t data = message.begin(IFLA_INFO_DATA);
  const std::size_t peer = message.begin(VETH_INFO_PEER);
  message.append(&head, sizeof head);
  describe(message, other);
  message.end(peer);
  message.end(data);
  message.end(info);
  return ask(message.done(),
             fmt::format("a wire from '{}' to '{}' (veth)", one.interface, other.interface));
}

Result<void> Netlink::set_up(const std::string& interface, int mtu, int queue) {
  const auto index = index_of(interface);
  if (!index) return Unexpected<Error>{index.error()};
  ifinfomsg head{};
  head.ifi_family = AF_UNSPEC;
  head.ifi_index = int(*index);
  head.ifi_flags = IFF_UP;
  head.ifi_change = IFF_UP;
  // A peer that is made with a wire does not take its flags from there.
  if (interface != "lo") {
    head.ifi_flags |= IFF_NOARP;
    head.ifi_change |= IFF_NOARP;
  }
  Message message(RTM_NEWLINK, head, Message::kChanged);
  if (mtu > 0) message.add_number(IFLA_MTU, std::uint32_t(mtu));
  if (queue > 0) message.add_number(IFLA_TXQLEN, std::uint32_t(queue));
  return ask(message.done(), fmt::format("interface '{}' up", interface));
}

Result<void> Netlink::add_address(const std::string& interface, Ipv4Address address) {
  const auto index = index_of(interface);
  if (!index) return Unexpected<Error>{index.error()};
  ifaddrmsg head{};
  head.ifa_family = AF_INET;
  head.ifa_prefixlen = 32;
  head.ifa_index = *index;
  Message message(RTM_NEWADDR, head, Message::kChanged | NLM_F_CREATE | NLM_F_EXCL);
  message.add_number(IFA_LOCAL, htonl(address));
  message.add_number(IFA_ADDRESS, htonl(address));
  return ask(message.done(), fmt::format("address {} on '{}'", to_text(address), interface));
}

Result<void> Netlink::route(Ipv4Address to, int bits, const std::string& interface) {
  const auto index = index_of(interface);
  if (!index) return Unexpected<Error>{index.error()};
  rtmsg head{};
  head.rtm_family = AF_INET;
  head.rtm_dst_len = std::uint8_t(bits);
  head.rtm_table = RT_TABLE_MAIN;
  head.rtm_protocol = RTPROT_STATIC;
  head.rtm_scope = RT_SCOPE_LINK;
  head.rtm_type = RTN_UNICAST;
  Message message(RTM_NEWROUTE, head, Message::kChanged | NLM_F_CREATE | NLM_F_REPLACE);
  if (bits > 0) message.add_number(RTA_DST, htonl(to));
  message.add_number(RTA_OIF, *index);
  return ask(message.done(), fmt::format("route to {}/{} over '{}'", to_text(to), bits, interface));
}

Result<void> Netlink::add_way(Ipv4Address to, const std::string& interface) {
  return route(to, 32, interface);
}

Result<void> Netlink::add_way_out(const std::string& interface) {
  return route(0, 0, interface);
}

}  // namespace cotillion
