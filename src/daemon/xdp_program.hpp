// The program that stands at an interface for an XdpSocket: which frames are ours.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace cotillion {

// File descriptors, or −1. Closing them takes the program away again.
struct XdpProgram {
  int map = -1;  // of sockets, by queue
  int program = -1;
  int link = -1;
};

// UDP over IPv4 to a group at this port goes to the socket of its queue, all else on its way.
[[nodiscard]] Result<XdpProgram> attach_xdp_program(int interface_index, std::uint16_t port);
[[nodiscard]] bool put_socket(const XdpProgram& program, int queue, int socket);
void close_all(XdpProgram& program);

}  // namespace cotillion
