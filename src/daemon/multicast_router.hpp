// The Linux kernel as a multicast router: (source, group) → interfaces. The kernel keeps what it is
// told as long as the socket that told it lives, and forgets all of it then, however the process
// ends. One process at a time may do so in a network namespace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "job/multicast_routes.hpp"
#include "protocol/address.hpp"

namespace cotillion {

// One entry, with interfaces by name. Without outputs what arrives is dropped and counted, rather
// than kept for a while in the kernel's queue of packets nobody told it about.
struct KernelRoute {
  Ipv4Address source = 0;
  Ipv4Address group = 0;
  std::string in;
  std::vector<std::string> out;

  friend bool operator==(const KernelRoute&, const KernelRoute&) = default;
};

// What the plan does not know of a router: which interface leads where, and what address islands
// send from.
struct Wiring {
  std::map<Port, std::string> interfaces;
  std::vector<Ipv4Address> sources;  // by island
};

// A router's entries in the kernel's words. Names every neighbour whose interface is missing.
[[nodiscard]] Result<std::vector<KernelRoute>> kernel_routes(
    const Map& map, PlaceId place, const std::vector<MulticastRoute>& routes, const Wiring& wiring);

struct RouteCounts {
  std::uint64_t packets = 0;  // arrived, those on a wrong interface included
  std::uint64_t bytes = 0;
  std::uint64_t wrong_interface = 0;  // arrived elsewhere than on `in`; not passed on
};

// A packet for which there is no entry: the kernel keeps the first few of it for ten seconds.
struct Stray {
  Ipv4Address source = 0;
  Ipv4Address group = 0;
  std::string interface;
  friend auto operator<=>(const Stray&, const Stray&) = default;
};

class MulticastRouter {
 public:
  // Needs CAP_NET_RAW and CAP_NET_ADMIN in the network namespace in which it is called, and stays
  // with that one. Errors say what lacks.
  [[nodiscard]] static Result<MulticastRouter> open();
  MulticastRouter(MulticastRouter&& other) noexcept;
  MulticastRouter& operator=(MulticastRouter&&) = delete;
  ~MulticastRouter();

  // Makes the table hold these entries and no others; how many were added, changed or removed.
  // Entries that stay are not touched: what flows through them goes on flowing. After an error the
  // table may hold a part.
  [[nodiscard]] Result<std::size_t> set(const std::vector<KernelRoute>& routes);

  [[nodiscard]] Result<RouteCounts> counts(const KernelRoute& route) const;
  // What arrived without an entry since the last call. Never waits.
  [[nodiscard]] std::vector<Stray> strays();
  // Readable when there may be strays.
  [[nodiscard]] int descriptor() const { return socket_; }

 private:
  explicit MulticastRouter(int socket) : socket_(socket) {}
  [[nodiscard]] Result<int> vif_of(const std::string& interface);
  [[nodiscard]] Result<void> tell(int what, const KernelRoute& route);

  int socket_ = -1;
  std::vector<std::string> vifs_;  // by the kernel's number
  std::map<std::pair<Ipv4Address, Ipv4Address>, KernelRoute> held_;
};

// What will keep packets from passing although the entries are there, in sentences: interfaces
// that are down, reverse path filters that drop sources which unicast would route elsewhere.
[[nodiscard]] std::vector<std::string> obstacles(const std::vector<KernelRoute>& routes);

}  // namespace cotillion
