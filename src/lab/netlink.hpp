// Interfaces, addresses and routes of a network namespace, told to the kernel directly: no program
// need be installed for it, and a lab is up in milliseconds.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/descriptor.hpp"
#include "protocol/address.hpp"

namespace cotillion {

class Netlink {
 public:
  // Speaks to the namespace in which the calling thread is, and stays with it.
  [[nodiscard]] static Result<Netlink> open();

  struct End {
    int space = -1;  // descriptor of its namespace
    std::string interface;
  };
  // Two interfaces joined by a wire. They have the same Ethernet address and need no ARP: whatever
  // leaves one is for the other.
  [[nodiscard]] Result<void> add_wire(const End& one, const End& other, int mtu);
  [[nodiscard]] Result<void> set_up(const std::string& interface, int mtu, int queue);
  // Whether it carries anything yet: the kernel starts the end of a wire that was up first in its
  // own time, and until then drops what it is to send.
  [[nodiscard]] Result<bool> carries(const std::string& interface);
  [[nodiscard]] Result<void> add_address(const std::string& interface, Ipv4Address address);
  // To one address, or to all that have no other way.
  [[nodiscard]] Result<void> add_way(Ipv4Address to, const std::string& interface);
  [[nodiscard]] Result<void> add_way_out(const std::string& interface);

 private:
  explicit Netlink(Descriptor socket) : socket_(std::move(socket)) {}
  // The kernel's answer, as it came.
  [[nodiscard]] Result<std::vector<std::byte>> converse(const std::vector<std::byte>& request,
                                                        const std::string& what);
  [[nodiscard]] Result<void> ask(const std::vector<std::byte>& request, const std::string& what);
  [[nodiscard]] Result<void> route(Ipv4Address to, int bits, const std::string& interface);

  Descriptor socket_;
};

}  // namespace cotillion
