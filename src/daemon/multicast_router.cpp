#include "daemon/multicast_router.hpp"
#include "base/file.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
// Behind the C library's own headers, which it then leaves alone.
#include <linux/mroute.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>

namespace cotillion {
namespace {

Unexpected<Error> route_refused(const std::string& attempt, int error) {
  const char* remedy = "";
  if (error == EPERM || error == EACCES)
    remedy = "; it takes CAP_NET_ADMIN and CAP_NET_RAW, as root has them";
  if (error == EADDRINUSE)
    remedy =
        "; another program routes multicast in this network namespace (pimd, smcrouted, another "
        "`cotillion routes install`): stop it first";
  if (error == ENOPROTOOPT || error == EPROTONOSUPPORT)
    remedy = "; the kernel was built without CONFIG_IP_MROUTE";
  return failure(fmt::format("{}: {}{}", attempt, std::strerror(error), remedy));
}

in_addr in_network_order(Ipv4Address address) {
  in_addr ordered{};
  ordered.s_addr = htonl(address);
  return ordered;
}

std::string route_text(const KernelRoute& route) {
  return fmt::format("({}, {})", to_text(route.source), to_text(route.group));
}

// 0 where there is no such setting.
int setting_of(const std::string& interface, const char* name) {
  std::istringstream file(
      read_if_there(fmt::format("/proc/sys/net/ipv4/conf/{}/{}", interface, name)));
  int value = 0;
  file >> value;
  return file ? value : 0;
}

bool is_up(const std::string& interface) {
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0) return true;
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  const bool up = ::ioctl(any, SIOCGIFFLAGS, &request) != 0 || (request.ifr_flags & IFF_UP) != 0;
  ::close(any);
  return up;
}

}  // namespace

Result<std::vector<KernelRoute>> kernel_routes(const Map& map, PlaceId place,
                                               const std::vector<MulticastRoute>& routes,
                                               const Wiring& wiring) {
  std::set<std::string> missing;
  const auto interface = [&](const Port& port) -> std::string {
    const auto found = wiring.interfaces.find(port);
    if (found != wiring.interfaces.end()) return found->second;
    missing.insert(port_name(map, place, port));
    return "";
  };
  std::vector<KernelRoute> entries;
  for (const MulticastRoute& route : routes) {
    KernelRoute entry{.source = wiring.sources[route.group->sender],
                      .group = route.group->address,
                      .in = interface(route.in),
                      .out = {}};
    // An edge in line with its island shares the island's interface.
    std::set<std::string> out;
    for (const Port& port : route.out) out.insert(interface(port));
    entry.out.assign(out.begin(), out.end());
    entries.push_back(std::move(entry));
  }
  if (!missing.empty())
    return failure(fmt::format("no interface is given from {} to {}", place_name(map, place),
                               fmt::join(missing, ", ")));
  return entries;
}

Result<MulticastRouter> MulticastRouter::open() {
  const int socket = ::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_IGMP);
  if (socket < 0) return route_refused("no raw socket for multicast routing", errno);
  MulticastRouter router(socket);  // closes it
  const int on = 1;
  if (::setsockopt(socket, IPPROTO_IP, MRT_INIT, &on, sizeof on) != 0)
    return route_refused("multicast routing cannot be switched on", errno);
  return router;
}

MulticastRouter::MulticastRouter(MulticastRouter&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      vifs_(std::move(other.vifs_)),
      held_(std::move(other.held_)) {}

// With the socket go all entries and interfaces; MRT_DONE would only say so first.
MulticastRouter::~MulticastRouter() {
  if (socket_ >= 0) ::close(socket_);
}

Result<int> MulticastRouter::vif_of(const std::string& interface) {
  const auto known = std::find(vifs_.begin(), vifs_.end(), interface);
  if (known != vifs_.end()) return int(known - vifs_.begin());
  const unsigned index = ::if_nametoindex(interface.c_str());
  if (index == 0) return failure(fmt::format("there is no interface '{}' here", interface));
  if (vifs_.size() >= MAXVIFS)
    return failure(
        fmt::format("interface '{}' is one too many: the kernel routes multicast among "
                    "at most {}",
                    interface, MAXVIFS));
  vifctl vif{};
  vif.vifc_vifi = vifi_t(vifs_.size());
  vif.vifc_flags = VIFF_USE_IFINDEX;
  vif.vifc_threshold = 1;
  vif.vifc_lcl_ifindex = int(index);
  if (::setsockopt(socket_, IPPROTO_IP, MRT_ADD_VIF, &vif, sizeof vif) != 0)
    return route_refused(
        fmt::format("interface '{}' cannot take part in multicast routing", interface), errno);
  vifs_.push_back(interface);
  return int(vif.vifc_vifi);
}

Result<void> MulticastRouter::tell(int what, const KernelRoute& route) {
  mfcctl entry{};
  entry.mfcc_origin = in_network_order(route.source);
  entry.mfcc_mcastgrp = in_network_order(route.group);
  const auto in = vif_of(route.in);
  if (!in) return Unexpected<Error>{in.error().within("route " + route_text(route))};
  entry.mfcc_parent = vifi_t(*in);
  for (const std::string& interface : route.out) {
    const auto out = vif_of(interface);
    if (!out) return Unexpected<Error>{out.error().within("route " + route_text(route))};
    entry.mfcc_ttls[*out] = 1;  // whatever has hops left
  }
  if (::setsockopt(socket_, IPPROTO_IP, what, &entry, sizeof entry) != 0)
    return route_refused("route " + route_text(route), errno);
  return {};
}

Result<std::size_t> MulticastRouter::set(const std::vector<KernelRoute>& routes) {
  std::map<std::pair<Ipv4Address, Ipv4Address>, KernelRoute> wanted;
  for (const KernelRoute& route : routes)
    if (!wanted.emplace(std::pair{route.source, route.group}, route).second)
      return failure("two routes for " + route_text(route));
  std::size_t changed = 0;
  for (const auto& [key, route] : wanted) {
    const auto held = held_.find(key);
    if (held != held_.end() && held->second == route) continue;
    // The kernel replaces an entry of the same source and group.
    const auto told = tell(MRT_ADD_MFC, route);
    if (!told) return Unexpected<Error>{told.error()};
    held_[key] = route;
    ++changed;
  }
  for (auto held = held_.begin(); held != held_.end();) {
    if (wanted.contains(held->first)) {
      ++held;
      continue;
    }
    const auto told = tell(MRT_DEL_MFC, held->second);
    if (!told) return Unexpected<Error>{told.error()};
    held = held_.erase(held);
    ++changed;
  }
  return changed;
}

Result<RouteCounts> MulticastRouter::counts(const KernelRoute& route) const {
  sioc_sg_req request{};
  request.src = in_network_order(route.source);
  request.grp = in_network_order(route.group);
  if (::ioctl(socket_, SIOCGETSGCNT, &request) != 0)
    return route_refused("counters of " + route_text(route), errno);
  return RouteCounts{request.pktcnt, request.bytecnt, request.wrong_if};
}

std::vector<Stray> MulticastRouter::strays() {
  std::set<Stray> found;
  std::array<std::byte, 256> buffer;
  for (;;) {
    const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), MSG_TRUNC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    if (std::size_t(got) < sizeof(igmpmsg)) continue;
    igmpmsg notice{};
    std::memcpy(&notice, buffer.data(), sizeof notice);
    // Where the kernel's own notices have a zero, real IGMP has its protocol number.
    if (notice.im_mbz != 0 || notice.im_msgtype != IGMPMSG_NOCACHE) continue;
    const std::size_t vif = notice.im_vif;
    found.insert({ntohl(notice.im_src.s_addr), ntohl(notice.im_dst.s_addr),
                  vif < vifs_.size() ? vifs_[vif] : "?"});
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> obstacles(const std::vector<KernelRoute>& routes) {
  std::set<std::string> in, all;
  for (const KernelRoute& route : routes) {
    in.insert(route.in);
    all.insert(route.in);
    all.insert(route.out.begin(), route.out.end());
  }
  std::vector<std::string> found;
  for (const std::string& interface : all)
    if (!is_up(interface))
      found.push_back(
          fmt::format("interface '{}' is down: `ip link set dev {} up`", interface, interface));
  for (const std::string& interface : in) {
    const int filter = std::max(setting_of("all", "rp_filter"), setting_of(interface, "rp_filter"));
    if (filter == 1)
      found.push_back(fmt::format(
          "net.ipv4.conf.{}.rp_filter is 1 (the larger of 'all' and its own): packets of sources "
          "that unicast would not send back over '{}' are dropped without a word; set both to 0",
          interface, interface));
  }
  return found;
}

}  // namespace cotillion
