#include "lab/probe_receivers.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/check.hpp"
#include "lab/steady.hpp"
#include "protocol/packet.hpp"

namespace cotillion {
namespace {

std::int64_t stamp_of(msghdr& message) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec time{};
    std::memcpy(&time, CMSG_DATA(control), sizeof time);
    return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  }
  return 0;
}

}  // namespace

std::vector<std::byte> probe_packet(std::size_t payload) {
  std::vector<std::byte> packet(packet_bytes(payload));
  Header header;
  header.set_type(PacketType::kData);
  header.set_content(Element::kF32, Operation::kSum, 0);
  write_header(header, packet);
  return packet;
}

bool send_probe(const UdpSocket& socket, const Endpoint& to, std::vector<std::byte>& packet,
                ProbeMark mark) {
  COTILLION_CHECK(packet.size() >= kHeaderBytes + sizeof mark);
  const sockaddr_in address = to_sockaddr(to);
  mark.sent_ns = clock_ns(CLOCK_REALTIME);
  std::memcpy(packet.data() + kHeaderBytes, &mark, sizeof mark);
  return ::sendto(socket.fd(), packet.data(), packet.size(), 0,
                  reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) == ssize_t(packet.size());
}

Result<int> ProbeReceivers::add(UdpSocket socket) {
  const int on = 1;
  if (::setsockopt(socket.fd(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0)
    return failure(fmt::format("SO_TIMESTAMPNS: {}", std::strerror(errno)));
  sockets_.push_back(std::move(socket));
  return int(sockets_.size()) - 1;
}

void ProbeReceivers::start(std::size_t expected) {
  COTILLION_CHECK(!thread_.joinable());  // sockets are added before, and stop() comes between
  heard_.clear();
  heard_.reserve(expected + expected / 4 + 64);
  count_ = 0;
  leaving_ = false;
  thread_ = std::thread([this] { listen(); });
}

std::vector<Heard> ProbeReceivers::stop() {
  if (!thread_.joinable()) return {};
  leaving_ = true;
  wakeup_.wake();
  thread_.join();
  wakeup_.drain();
  return std::move(heard_);
}

void ProbeReceivers::listen() {
  std::vector<pollfd> receivers;
  for (const UdpSocket& socket : sockets_) receivers.push_back({socket.fd(), POLLIN, 0});
  receivers.push_back({wakeup_.fd(), POLLIN, 0});
  while (!leaving_) {
    if (::poll(receivers.data(), receivers.size(), -1) <= 0) continue;
    for (std::size_t receiver = 0; receiver < sockets_.size(); ++receiver)
      if (receivers[receiver].revents != 0) drain(int(receiver));
    count_ = heard_.size();
  }
}

void ProbeReceivers::drain(int receiver) {
  // The mark is all that is wanted of a packet.
  std::array<std::byte, kHeaderBytes + sizeof(ProbeMark)> bytes;
  alignas(cmsghdr) std::array<std::byte, 256> control;
  for (;;) {
    iovec piece{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(sockets_[std::size_t(receiver)].fd(), &message, 0);
    if (got < 0) return;
    if (std::size_t(got) < bytes.size()) continue;  // none of ours
    Heard heard;
    heard.receiver = receiver;
    heard.came_ns = stamp_of(message);
    std::memcpy(&heard.mark, bytes.data() + kHeaderBytes, sizeof heard.mark);
    heard_.push_back(heard);
  }
}

}  // namespace cotillion
